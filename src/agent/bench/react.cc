#include "agent/bench/react.h"

#include <algorithm>
#include <csignal>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include "agent/bench/governed.h"
#include "agent/bench/pod_cgroups.h"
#include "agent/bench/probe.h"
#include "agent/pressure/sentinel.h"
#include "base/number/rng.h"
#include "json/value.h"
#include "kernel/control_files.h"
#include "kernel/resource_names.h"
#include "stats/experiment.h"

namespace mangrove::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kService = "5e1fc0de-0000-0000-0000-000000000001";
constexpr const char* kBatch = "5e1fc0de-0000-0000-0000-000000000002";
// One whose own quota is spent all the time, one that does nothing.
constexpr const char* kThrottled = "5e1fc0de-0000-0000-0000-000000000003";
constexpr const char* kHealthy = "5e1fc0de-0000-0000-0000-000000000004";
constexpr int64_t kThrottledQuota = 5000;  // a twentieth of a CPU
constexpr double kRecovered = 1.2;         // of the quiet p99
constexpr Duration kWindow = milliseconds(100);

struct Plan {
  std::string name;
  Duration interval;
  int64_t steps = 0;
  bool floor = false;
  Duration watch = milliseconds(600);  // after the step
  Duration phase = milliseconds(100);
  bool throttled = false;  // beside two more services
};

double p99(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return stats::quantile(values, 0.99);
}

Spread spreadOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {stats::quantile(values, 0.5), stats::quantile(values, 0.99),
          values.empty() ? 0 : values.back()};
}

double ms(Duration d) {
  return std::chrono::duration<double, std::milli>(d).count();
}

// One lane per CPU: lanes that share one would wait for each other and be taken for a busy service.
void stayOnCpu(size_t lane) {
  cpu_set_t allowed, mine;
  CPU_ZERO(&mine);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  for (size_t cpu = 0, seen = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed) && seen++ == lane) CPU_SET(cpu, &mine);
  if (CPU_COUNT(&mine) == 1) (void)::sched_setaffinity(0, sizeof mine, &mine);
}

class React {
 public:
  React(const ReactOptions& options, PodCgroups& pods, Probe& probe)
      : options_(options), pods_(pods), probe_(probe), rng_(options.seed) {}

  Result<> start() {
    cpus_ = std::max<long>(::sysconf(_SC_NPROCESSORS_ONLN), 1);
    if (auto ok = pods_.add(kService, 1, false); !ok) return ok;
    if (auto ok = pods_.add(kBatch, 1, false, kernel::PodTier::kBestEffort); !ok) return ok;
    for (size_t lane = 0; lane < std::min<size_t>(static_cast<size_t>(cpus_), Probe::kLanes);
         ++lane) {
      auto pid = pods_.start(kService, [&, lane] {
        stayOnCpu(lane);
        probe_.run(lane, realClock(), milliseconds(2), std::chrono::microseconds(1000));
      });
      if (!pid) return pass(pid.error());
    }
    for (long i = 0; i < 2 * cpus_; ++i)
      if (auto ok = addBurner(kBatch, burners_); !ok) return ok;
    return addOthers();
  }

  ReactRow run(const Plan& plan) {
    ReactRow row;
    row.name = plan.name;
    row.steps = plan.steps;
    for (int pid : throttled_) ::kill(pid, plan.throttled ? SIGCONT : SIGSTOP);
    std::this_thread::sleep_for(seconds(1));
    const MonoTime from = now();
    std::this_thread::sleep_for(seconds(2));
    quiet_ = probe_.between(from, now());
    std::vector<double> detect, written, recovery, burning, after;
    for (int64_t i = 0; i < plan.steps; ++i)
      step(plan, row, detect, written, recovery, burning, after);
    row.detect = spreadOf(detect);
    row.write = spreadOf(written);
    row.recovery = spreadOf(recovery);
    row.quietP99 = p99(quiet_);
    row.burnP99 = p99(burning);
    row.cutP99 = p99(after);
    return row;
  }
  long cpus() const { return cpus_; }
  const std::string& trouble() const { return trouble_; }

 private:
  Result<> addBurner(const char* pod, std::vector<int>& to) {
    auto pid = pods_.start(pod, [] {
      ::raise(SIGSTOP);
      for (;;) asm volatile("" ::: "memory");
    });
    if (!pid) return pass(pid.error());
    to.push_back(*pid);
    return {};
  }
  // Two threads of one, so that the pod always has somebody who waits for its quota.
  Result<> addOthers() {
    if (auto ok = pods_.add(kThrottled, 1, false); !ok) return ok;
    if (auto ok = pods_.add(kHealthy, 1, true); !ok) return ok;
    for (int i = 0; i < 2; ++i)
      if (auto ok = addBurner(kThrottled, throttled_); !ok) return ok;
    const auto path =
        kernel::filePath(pods_.trees(), *kernel::findResource(kernel::resource_name::kCpuQuota),
                         pods_.podDir(kThrottled));
    if (!path) return fail(Code::kUnsupported, "there is no quota for a pod here");
    return kernel::SysRoot().write(*path, std::to_string(kThrottledQuota));
  }

  static MonoTime now() { return realClock().mono(); }
  static void append(std::vector<double>& to, const std::vector<double>& more) {
    to.insert(to.end(), more.begin(), more.end());
  }
  void burn(bool on) const {
    for (int pid : burners_) ::kill(pid, on ? SIGCONT : SIGSTOP);
  }

  static std::vector<std::string> servicesOf(const Plan& plan) {
    return plan.throttled ? std::vector<std::string>{kService, kThrottled, kHealthy}
                          : std::vector<std::string>{kService};
  }

  // Quiet for a while, then batch work on every CPU; what the sentinel did about it.
  void step(const Plan& plan, ReactRow& row, std::vector<double>& detect,
            std::vector<double>& written, std::vector<double>& recovery,
            std::vector<double>& burning, std::vector<double>& after) {
    std::mutex mutex;
    std::vector<Cut> cuts;
    SentinelOptions options;
    options.interval = plan.interval;
    options.busyInterval = std::min(options.busyInterval, plan.interval);
    options.onCut = [&](const Cut& cut) {
      std::lock_guard lock(mutex);
      cuts.push_back(cut);
    };
    auto governed = Governed::start(pods_, {.profile = plan.floor ? BatchProfile::kPressureAndFloor
                                                                  : BatchProfile::kPressureOnly,
                                            .services = servicesOf(plan),
                                            .batch = kBatch,
                                            .sentinel = options,
                                            .triggers = plan.interval < seconds(1),
                                            .primed = 1});
    if (!governed) {
      trouble_ = governed.error().text();
      return;
    }
    const MonoTime quietFrom = now() + milliseconds(100);
    std::this_thread::sleep_for(
        milliseconds(300) + plan.interval +
        Duration(static_cast<int64_t>(rng_.unit() * double(plan.phase.count()))));
    append(quiet_, probe_.between(quietFrom, now()));
    const MonoTime begun = now();
    burn(true);
    std::this_thread::sleep_for(plan.watch);
    burn(false);
    row.mode = (*governed)->sentinel().mode;
    governed->reset();  // gives back
    const MonoTime ended = begun + plan.watch;
    row.needless += std::erase_if(cuts, [&](const Cut& cut) { return cut.written < begun; });
    if (cuts.empty() || cuts.front().written > ended) {
      append(burning, probe_.between(begun, ended));
      return;
    }
    ++row.detected;
    const Cut& cut = cuts.front();
    detect.push_back(ms(cut.at - begun));
    written.push_back(ms(cut.written - begun));
    append(burning, probe_.between(begun, cut.written));
    append(after, probe_.between(cut.written + milliseconds(50), ended));
    if (auto back = recoveredAt(cut.written, ended))
      ++row.recovered, recovery.push_back(ms(*back - begun));
  }

  // The start of the first window in which the probe is as quick as when nothing burns.
  std::optional<MonoTime> recoveredAt(MonoTime from, MonoTime until) const {
    const double most = p99(quiet_) * kRecovered;
    for (MonoTime at = from; at + kWindow <= until; at += milliseconds(10)) {
      const std::vector<double> seen = probe_.between(at, at + kWindow);
      if (!seen.empty() && p99(seen) <= most) return at;
    }
    return std::nullopt;
  }

  const ReactOptions& options_;
  PodCgroups& pods_;
  Probe& probe_;
  Rng rng_;
  long cpus_ = 1;
  std::vector<int> burners_, throttled_;
  std::vector<double> quiet_;
  std::string trouble_;  // why a step could not be made
};

}  // namespace

Result<ReactBench> runReactBench(const ReactOptions& options) {
  auto probe = Probe::make();
  if (!probe) return pass(probe.error());
  auto pods = PodCgroups::make(fmt::format("mangrove-react-{}", ::getpid()));
  if (!pods) return pods.error().in("cgroups of the benchmark");
  React react(options, *pods, **probe);
  if (auto ok = react.start(); !ok) return pass(ok.error());
  ReactBench bench;
  bench.cgroupV2 = pods->isV2();
  bench.cpus = react.cpus();
  if (options.steps > 0)
    bench.rows.push_back(react.run({"pressure", options.interval, options.steps}));
  if (options.pollSteps > 0)
    bench.rows.push_back(react.run(
        {"every second", seconds(1), options.pollSteps, false, milliseconds(2500), seconds(1)}));
  if (options.floorSteps > 0)
    bench.rows.push_back(
        react.run({"pressure, idle class", options.interval, options.floorSteps, true}));
  if (options.throttledSteps > 0)
    bench.rows.push_back(react.run({.name = "beside a throttled one",
                                    .interval = options.interval,
                                    .steps = options.throttledSteps,
                                    .throttled = true}));
  if (!react.trouble().empty()) return fail(Code::kUnavailable, "{}", react.trouble());
  if (options.steps > 0 && options.pollSteps > 0 && bench.rows[0].write.p99 > 0)
    bench.speedup = bench.rows[1].write.p99 / bench.rows[0].write.p99;
  return bench;
}

std::string toTable(const ReactBench& b) {
  std::string out = fmt::format("{} CPUs, cgroup v{}; milliseconds from the start of batch work\n",
                                b.cpus, b.cgroupV2 ? 2 : 1);
  out += fmt::format("{:<22} {:>8} {:>9} {:>8} {:>8} {:>8} {:>8} {:>9} {:>9} {:>24}\n", "row",
                     "mode", "noticed", "detect", "p99", "write", "p99", "recovery", "p99",
                     "probe p99 quiet/burn/cut");
  for (const ReactRow& row : b.rows)
    out += fmt::format(
        "{:<22} {:>8} {:>4}/{:<4} {:>8.1f} {:>8.1f} {:>8.1f} {:>8.1f} {:>9.1f} {:>9.1f} "
        "{:>8.2f}/{:.2f}/{:.2f}\n",
        row.name, row.mode, row.detected, row.steps, row.detect.p50, row.detect.p99, row.write.p50,
        row.write.p99, row.recovery.p50, row.recovery.p99, row.quietP99, row.burnP99, row.cutP99);
  for (const ReactRow& row : b.rows)
    if (row.needless > 0)
      out += fmt::format("{}: {} cuts while no batch work ran\n", row.name, row.needless);
  if (b.speedup > 0)
    out +=
        fmt::format("detect and write, p99: {:.1f} times faster than once a second\n", b.speedup);
  return out;
}

std::string toJson(const ReactBench& b) {
  const auto spread = [](const Spread& s) {
    return json::Object{{"p50", s.p50}, {"p99", s.p99}, {"max", s.max}};
  };
  json::Array rows;
  for (const ReactRow& row : b.rows)
    rows.push_back(json::Object{
        {"name", row.name},
        {"mode", row.mode},
        {"steps", row.steps},
        {"detected", row.detected},
        {"recovered", row.recovered},
        {"needless", row.needless},
        {"detectMs", spread(row.detect)},
        {"writeMs", spread(row.write)},
        {"recoveryMs", spread(row.recovery)},
        {"probeP99Ms",
         json::Object{{"quiet", row.quietP99}, {"burning", row.burnP99}, {"cut", row.cutP99}}}});
  return json::writePretty(json::Object{{"cpus", b.cpus},
                                        {"cgroupVersion", b.cgroupV2 ? 2 : 1},
                                        {"speedup", b.speedup},
                                        {"rows", std::move(rows)}}) +
         "\n";
}

}  // namespace mangrove::agent
