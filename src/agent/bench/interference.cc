#include "agent/bench/interference.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <map>
#include <mutex>
#include <span>
#include <thread>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/bench/cpu_account.h"
#include "agent/bench/governed.h"
#include "agent/bench/pod_cgroups.h"
#include "base/clock.h"
#include "base/number/rng.h"
#include "json/value.h"
#include "kernel/cgroup_stat.h"
#include "kernel/control_files.h"
#include "kernel/read_text.h"
#include "kernel/resource_names.h"
#include "net/server/http_server.h"
#include "stats/paired.h"

namespace mangrove::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kService = "5e1fc0de-0000-0000-0000-000000000031";
constexpr const char* kPods[] = {"5e1fc0de-0000-0000-0000-000000000032",
                                 "5e1fc0de-0000-0000-0000-000000000033"};
constexpr Duration kSettle = milliseconds(400);
constexpr Duration kCalm = seconds(12);
constexpr Duration kHeldFor = seconds(60);
constexpr Duration kLastOfIt = seconds(20);
constexpr double kGuilty = 1.10;       // p99 with it, over without
constexpr double kPromise = 1.15;      // p99 that the service promises, over what it has alone
constexpr double kLittleRoom = 320e6;  // bytes for pods whose page cache is fought for

double secondsBetween(MonoTime from, MonoTime until) {
  return std::chrono::duration<double>(until - from).count();
}

double p99Between(const stats::Buckets& before, const stats::Buckets& after) {
  return stats::quantileOf(stats::difference(after, before), 0.99).value_or(0);
}

// What the agent says, from its thread to ours.
class Ear {
 public:
  void hear(InterferenceBoard& board) {
    std::lock_guard lock(mutex_);
    for (api::InterferenceReport& report : board.reports) {
      if (!first_) first_ = realClock().mono();
      last_ = std::move(report);
    }
    board.reports.clear();
  }
  std::optional<MonoTime> first() const {
    std::lock_guard lock(mutex_);
    return first_;
  }
  api::InterferenceReport last() const {
    std::lock_guard lock(mutex_);
    return last_;
  }

 private:
  mutable std::mutex mutex_;
  std::optional<MonoTime> first_;
  api::InterferenceReport last_;
};

bool isUnderTrial(const api::InterferenceReport& report) {
  const auto& actions = report.status.actions;
  return std::any_of(actions.begin(), actions.end(), [](const api::InterferenceAction& one) {
    return one.action.starts_with("experiment");
  });
}

// Everybody was tried; who acts stops at the first that is guilty.
bool isDecided(const api::InterferenceReport& report, size_t pods, bool acts) {
  size_t tried = 0;
  for (const api::InterferenceSuspect& one : report.status.suspects) {
    if (acts && one.verified == "guilty") return true;
    tried += !one.verified.empty();
  }
  return tried >= pods;
}

class Trial {
 public:
  Trial(const InterferenceOptions& options, PodCgroups& pods, std::string dir, const CasePlan& plan,
        uint64_t seed)
      : options_(options), pods_(pods), dir_(std::move(dir)), rng_(seed) {
    out_.victim = plan.victim;
    for (const Antagonist one : {plan.culprit, plan.decoy}) {
      TriedPod pod;
      pod.work = one;
      pod.program = programOf(one);
      out_.pods.push_back(std::move(pod));
    }
  }
  ~Trial() {
    for (size_t i = 0; i < groups_.size(); ++i) ::kill(-groups_[i], SIGKILL);
    for (const char* uid : kPods) (void)pods_.remove(uid);
    (void)pods_.remove(kService);
    std::error_code ignored;
    for (const auto& file : std::filesystem::directory_iterator(dir_, ignored))
      std::filesystem::remove(file, ignored);
  }

  Result<InterferenceCase> run() {
    if (auto ok = begin(); !ok) return pass(ok.error());
    const CpuAccount before = accountOf(pods_);
    findTruth();
    auto ok = letTheAgentFind();
    out_.strangers = strangersBetween(before, accountOf(pods_));
    if (!ok) return pass(ok.error());
    return out_;
  }

 private:
  Result<> begin() {
    auto page = LatencyPage::make();
    if (!page) return pass(page.error());
    page_ = *std::move(page);
    const WorkPlace place{dir_, std::max<long>(::sysconf(_SC_NPROCESSORS_ONLN), 1)};
    limitMemory();
    if (auto ok = pods_.add(kService, 1, false); !ok) return ok;
    auto pid = pods_.start(kService, [&] { runVictim(out_.victim, place, *page_); });
    if (!pid) return pass(pid.error());
    for (size_t i = 0; i < out_.pods.size(); ++i) {
      if (auto ok = pods_.add(kPods[i], 1, false, kernel::PodTier::kBestEffort); !ok) return ok;
      const Antagonist work = out_.pods[i].work;
      auto started = pods_.start(kPods[i], [&] { runAntagonist(work, place); });
      if (!started) return pass(started.error());
      groups_.push_back(*started);
    }
    // Their files are written before anybody is measured.
    std::this_thread::sleep_for(seconds(4));
    turnAll(false);
    return {};
  }

  // Page cache is fought for only where there is too little of it.
  void limitMemory() const {
    const auto file = kernel::filePath(
        pods_.trees(), *kernel::findResource(kernel::resource_name::kMemoryLimit), "");
    const bool tight = out_.victim == Sufferer::kPageCache;
    const std::string most = tight          ? fmt::format("{:.0f}", kLittleRoom)
                             : pods_.isV2() ? "max"
                                            : "-1";
    if (file) (void)kernel::SysRoot().write(*file, most);
  }

  void turn(size_t pod, bool on) { ::kill(-groups_[pod], on ? SIGCONT : SIGSTOP); }
  void turnAll(bool on) {
    for (size_t i = 0; i < groups_.size(); ++i) turn(i, on);
  }

  double measure(Duration length) const {
    std::this_thread::sleep_for(kSettle);
    const stats::Buckets before = page_->buckets();
    std::this_thread::sleep_for(length);
    return p99Between(before, page_->buckets());
  }

  // With the pod and without, by lot, the other one at work all the while.
  void findTruth() {
    std::vector<double> alone;
    for (size_t pod = 0; pod < out_.pods.size(); ++pod) {
      std::vector<double> with, without;
      turnAll(true);
      for (int64_t i = 0; i < options_.truthPairs; ++i) {
        const bool withFirst = rng_.below(2) == 0;
        for (const bool on : {withFirst, !withFirst}) {
          turn(pod, on);
          (on ? with : without).push_back(measure(options_.length));
        }
      }
      const stats::Effect effect = stats::pairedEffect(stats::logRatios(with, without), 0.95);
      out_.pods[pod].truth = effect.ratio;
      out_.pods[pod].guilty = effect.ratio.estimate >= kGuilty && effect.ratio.low > 1;
    }
    turnAll(false);
    for (int i = 0; i < 3; ++i) alone.push_back(measure(2 * options_.length));
    std::sort(alone.begin(), alone.end());
    out_.alone = alone[alone.size() / 2];
  }

  std::string promise(uint16_t port) const {
    const std::string text =
        fmt::format(R"({{"prometheus":"http://:{}/metrics","histogram":"request_seconds",)"
                    R"("promisedMs":{:.4f}}})",
                    port, out_.alone * kPromise);
    return json::write(json::Object{{api::kLatencyAnnotation, text}});
  }

  Result<> letTheAgentFind() {
    net::Loop loop;
    auto server =
        net::HttpServer::listen(loop, {}, [this](std::shared_ptr<net::Exchange> exchange) {
          exchange->reply(net::HttpResponse::text(200, page_->text()));
        });
    if (!server) return pass(server.error());
    Ear ear;
    GovernedOptions governed{
        .profile = BatchProfile::kBare, .services = {kService}, .batch = kPods[0]};
    governed.moreBatch = {kPods[1]};
    governed.gates =
        fmt::format("InterferencePSI=true,CausalCheck=true,MitigationLadder={}", options_.act);
    // What helps without touching a single pod would end the story before anybody is proved guilty.
    governed.policy = R"({"ladder":{"L1":false,"io-weight":false,"memory-high":false,"L7":false}})";
    governed.annotations = promise((*server)->port());
    governed.loop = &loop;
    governed.told = [&](InterferenceBoard& board) { ear.hear(board); };
    auto agent = Governed::start(pods_, std::move(governed));
    if (!agent) return pass(agent.error());
    std::this_thread::sleep_for(kCalm);
    const CpuAccount before = accountOf(pods_);
    watch(ear);
    const CpuAccount after = accountOf(pods_);
    out_.agentCores =
        (after.own - before.own) / std::max(1e-9, secondsBetween(before.at, after.at));
    if (options_.act && isAccused()) hold();
    return {};
  }

  void watch(const Ear& ear) {
    const MonoTime began = realClock().mono();
    turnAll(true);
    const stats::Buckets first = page_->buckets();
    stats::Buckets tried;
    while (realClock().mono() - began < options_.patience) {
      std::this_thread::sleep_for(milliseconds(200));
      const api::InterferenceReport report = ear.last();
      if (tried.empty() && isUnderTrial(report)) {
        tried = page_->buckets();
        out_.beside = p99Between(first, tried);
      }
      if (isDecided(report, out_.pods.size(), options_.act)) break;
    }
    out_.watched = secondsBetween(began, realClock().mono());
    const stats::Buckets end = page_->buckets();
    if (!tried.empty()) out_.during = p99Between(tried, end);
    if (tried.empty()) out_.beside = p99Between(first, end);
    if (const auto at = ear.first()) out_.detected = secondsBetween(began, *at);
    take(ear.last());
  }

  void take(const api::InterferenceReport& report) {
    for (const api::InterferenceSuspect& one : report.status.suspects)
      for (size_t i = 0; i < out_.pods.size(); ++i) {
        if (!one.pod.ends_with(kPods[i])) continue;
        out_.pods[i].verdict = one.verified;
        out_.pods[i].sentence = one.verdict;
        out_.pods[i].correlation = one.correlation;
      }
  }
  bool isAccused() const {
    return std::any_of(out_.pods.begin(), out_.pods.end(),
                       [](const TriedPod& pod) { return pod.accused(); });
  }

  double usedBy(size_t pod) const {
    const auto file =
        kernel::filePath(pods_.trees(), *kernel::findResource(kernel::resource_name::kCpuUsage),
                         pods_.podDir(kPods[pod]));
    auto text = kernel::readText(kernel::SysRoot(), file.value_or(""));
    if (!text || !*text) return 0;
    const auto used = kernel::parseCpuUsage(**text, pods_.trees().version());
    return used ? std::chrono::duration<double>(*used).count() : 0;
  }

  // A minute for the quota to find its place, then what the service has and the guilty one keeps.
  void hold() {
    size_t guilty = 0;
    while (!out_.pods[guilty].accused()) ++guilty;
    const double first = usedBy(guilty);
    std::this_thread::sleep_for(seconds(2));
    const double free = (usedBy(guilty) - first) / 2;
    std::this_thread::sleep_for(kHeldFor);
    const stats::Buckets before = page_->buckets();
    const double held = usedBy(guilty);
    std::this_thread::sleep_for(kLastOfIt);
    out_.held = p99Between(before, page_->buckets());
    const double rate = (usedBy(guilty) - held) / std::chrono::duration<double>(kLastOfIt).count();
    out_.kept = free > 0 ? rate / free : 0;
  }

  const InterferenceOptions& options_;
  PodCgroups& pods_;
  std::string dir_;
  Rng rng_;
  std::unique_ptr<LatencyPage> page_;
  std::vector<int> groups_;
  InterferenceCase out_;
};

}  // namespace

// Each victim in turn; what could hurt it first, then what probably does not.
CasePlan planOf(uint64_t seed, int64_t index) {
  using enum Antagonist;
  constexpr Antagonist kAgainst[][3] = {{kStream, kCache, kDisk},
                                        {kDisk, kFlood, kSpin},
                                        {kFlood, kStream, kCache},
                                        {kSpin, kStream, kDisk}};
  const auto victim = static_cast<size_t>(index) % std::size(kVictims);
  const auto round = static_cast<size_t>(index) / std::size(kVictims);
  Rng rng(seed + static_cast<uint64_t>(index));
  return {kVictims[victim], kAgainst[victim][round % 3], rng.below(2) == 0 ? kNap : kShadow};
}

Result<CasePlan> planOf(const InterferenceOptions& options, int64_t index) {
  CasePlan out = planOf(options.seed, index);
  const auto named = [](std::string_view wanted, auto nameOf, auto all, auto& to) -> Result<> {
    if (wanted.empty()) return {};
    std::string known;
    for (const auto one : all) {
      if (nameOf(one) == wanted) return to = one, Result<>();
      known += (known.empty() ? "" : ", ") + std::string(nameOf(one));
    }
    return fail(Code::kInvalid, "there is no {}, only {}", wanted, known);
  };
  if (auto ok = named(options.victim, victimName, std::span(kVictims), out.victim); !ok)
    return ok.error().in("--victim");
  if (auto ok = named(options.work, antagonistName, std::span(kCulprits), out.culprit); !ok)
    return ok.error().in("--work");
  return out;
}

// Threads of one case have ended before the next one forks.
Result<InterferenceBench> runInterferenceBench(const InterferenceOptions& options) {
  InterferenceBench bench;
  bench.cpus = std::max<long>(::sysconf(_SC_NPROCESSORS_ONLN), 1);
  std::string name = ((options.dir.empty() ? std::filesystem::temp_directory_path()
                                           : std::filesystem::path(options.dir)) /
                      "mangrove-interference-XXXXXX")
                         .string();
  if (::mkdtemp(name.data()) == nullptr) return failErrno(errno, "make the folder " + name);
  Result<> ok;
  if (const auto plan = planOf(options, options.first); !plan) ok = pass(plan.error());
  for (int64_t i = options.first; ok && i < options.first + options.cases; ++i) {
    auto pods = PodCgroups::make(fmt::format("mangrove-interference-{}", ::getpid()));
    if (!pods) {
      ok = pods.error().in("cgroups of the benchmark");
      break;
    }
    bench.cgroupV2 = pods->isV2();
    Trial trial(options, *pods, name, *planOf(options, i), options.seed + 1000 * (i + 1));
    auto one = trial.run();
    if (one)
      bench.cases.push_back(*std::move(one));
    else
      ok = one.error().in("case {}", i);
  }
  std::error_code ignored;
  std::filesystem::remove_all(name, ignored);
  if (!ok) return pass(ok.error());
  return bench;
}

}  // namespace mangrove::agent
