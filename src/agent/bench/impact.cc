#include "agent/bench/impact.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/bench/batch_work.h"
#include "agent/bench/cpu_account.h"
#include "agent/bench/governed.h"
#include "agent/bench/pod_cgroups.h"
#include "agent/bench/service.h"
#include "kernel/control_files.h"
#include "kernel/resource_names.h"
#include "net/server/http_server.h"

namespace mangrove::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kService = "5e1fc0de-0000-0000-0000-000000000021";
constexpr const char* kClient = "5e1fc0de-0000-0000-0000-000000000022";
constexpr const char* kBatch = "5e1fc0de-0000-0000-0000-000000000023";
constexpr Duration kSettle = milliseconds(300);

struct RowPlan {
  Placement placement;
  const char* name;
};
constexpr RowPlan kRows[] = {
    {Placement::kNone, "alone"},
    {Placement::kAwake, "alone, CPUs kept awake"},
    {Placement::kCareless, "careless: same cgroup"},
    {Placement::kPlainGroup, "own cgroup, equal weight"},
    {Placement::kPlainPod, "plain Kubernetes: BestEffort pod"},
    {Placement::kIdle, "own cgroup, cpu.idle"},
    {Placement::kMangrove, "Mangrove: pressure, 95 % quota"},
    {Placement::kKubelet, "Mangrove under a kubelet"},
    {Placement::kReference, "reference default: 65 % cpuset"},
};

std::optional<BatchProfile> profileOf(Placement placement) {
  if (placement == Placement::kMangrove) return BatchProfile::kMangrove;
  if (placement == Placement::kKubelet) return BatchProfile::kKubelet;
  if (placement == Placement::kReference) return BatchProfile::kReference;
  return std::nullopt;
}

[[noreturn]] void multiply(bool idleClass) {
  if (idleClass) becomeIdleClass();
  for (;;) multiplyOnce();
}

double cpuSecondsOf(int pid) {
  clockid_t clock{};
  timespec used{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &used) != 0) return 0;
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

uint16_t freePort() {
  net::Loop loop;
  auto server = net::HttpServer::listen(loop, {}, [](std::shared_ptr<net::Exchange>) {});
  return server ? (*server)->port() : 0;
}

class Impact {
 public:
  Impact(const ImpactOptions& options, PodCgroups& pods) : options_(options), pods_(pods) {}
  ~Impact() {
    if (result_ != nullptr) ::munmap(result_, sizeof(LoadResult));
    std::error_code ignored;
    if (!dir_.empty()) std::filesystem::remove_all(dir_, ignored);
  }

  Result<> start() {
    cpus_ = std::max<long>(::sysconf(_SC_NPROCESSORS_ONLN), 1);
    std::string name = (std::filesystem::temp_directory_path() / "mangrove-impact-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) return failErrno(errno, "make a folder");
    dir_ = name;
    void* memory = ::mmap(nullptr, sizeof(LoadResult), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return failErrno(errno, "memory for latencies");
    result_ = static_cast<LoadResult*>(memory);
    for (const char* uid : {kService, kClient})
      if (auto ok = pods_.add(uid, 1, false); !ok) return ok;
    auto service = chooseService(options_.service, freePort(), dir_);
    if (!service) return pass(service.error());
    service_ = *std::move(service);
    auto pid = pods_.start(kService, service_.run);
    if (!pid) return pass(pid.error());
    for (int i = 0; i < 500; ++i) {
      if (isUp(service_)) return {};
      std::this_thread::sleep_for(milliseconds(10));
    }
    return fail(Code::kUnavailable, "{} did not come up on port {}", service_.name, service_.port);
  }

  Result<ImpactRun> run(Placement placement) {
    if (auto ok = pods_.add(kBatch, 1, false, kernel::PodTier::kBestEffort); !ok)
      return pass(ok.error());
    setWeights(placement);
    // An agent is there before the work it governs.
    std::unique_ptr<Governed> governed;
    if (const auto profile = profileOf(placement)) {
      auto started = Governed::start(
          pods_, {.profile = *profile, .services = {kService, kClient}, .batch = kBatch});
      if (!started) return pass(started.error());
      governed = *std::move(started);
    }
    auto ok = startBatch(placement);
    auto load = ok ? startLoad() : Result<int>(pass(ok.error()));
    if (!load) return pass(load.error());
    const Account before = account();
    ::waitpid(*load, nullptr, 0);
    const Account after = account();
    governed.reset();
    ImpactRun out = latencies();
    const double elapsed = std::chrono::duration<double>(after.at - before.at).count();
    out.batchCores = (after.batch - before.batch) / elapsed;
    out.strangers = strangersBetween(before, after);
    out.kept = stats::keeps(options_.discard, out.strangers) && result_->failed == 0;
    endBatch();
    return out;
  }

  const Service& service() const { return service_; }
  long cpus() const { return cpus_; }

 private:
  struct Account : CpuAccount {
    double batch = 0;  // CPU seconds
  };

  std::string file(std::string_view resource, const std::string& cgroup) const {
    return kernel::filePath(pods_.trees(), *kernel::findResource(resource), cgroup).value_or("");
  }

  Account account() const {
    Account out{accountOf(pods_)};
    for (int pid : batch_) out.batch += cpuSecondsOf(pid);
    return out;
  }

  // What a machine has before an agent comes: under a kubelet the group has the least weight there
  // is. What the agent does beyond that (the idle class) it does itself.
  void setWeights(Placement placement) const {
    const bool idle = placement == Placement::kIdle || placement == Placement::kAwake;
    const bool kubelet = placement == Placement::kReference || placement == Placement::kKubelet ||
                         placement == Placement::kPlainPod;
    const std::string tier = PodCgroups::tierDir(kernel::PodTier::kBestEffort);
    // Shares cannot be written in the idle class.
    (void)root_.write(file(kernel::resource_name::kCpuIdle, tier), "0");
    (void)root_.write(file(kernel::resource_name::kCpuShares, tier),
                      pods_.isV2() ? (kubelet ? "1" : "39") : (kubelet ? "2" : "1024"));
    (void)root_.write(file(kernel::resource_name::kCpuIdle, tier), idle ? "1" : "0");
    (void)root_.write(file(kernel::resource_name::kCpuQuota, tier), pods_.isV2() ? "max" : "-1");
  }

  Result<> startBatch(Placement placement) {
    if (placement == Placement::kNone) return {};
    const bool awake = placement == Placement::kAwake;
    const char* where = placement == Placement::kCareless ? kService : kBatch;
    for (long i = 0; i < (awake ? cpus_ : 2 * cpus_); ++i) {
      auto pid = pods_.start(where, [awake] { multiply(awake); });
      if (!pid) return pass(pid.error());
      batch_.push_back(*pid);
    }
    std::this_thread::sleep_for(kSettle);
    return {};
  }

  void endBatch() {
    for (int pid : batch_) ::kill(pid, SIGKILL);
    for (int pid : batch_) ::waitpid(pid, nullptr, 0);
    for (int pid : batch_) pods_.forget(pid);
    batch_.clear();
    (void)pods_.remove(kBatch);
  }

  Result<int> startLoad() {
    result_->count = 0;
    result_->failed = 0;
    const LoadOptions options{.rate = options_.rate, .length = options_.length};
    auto pid = pods_.start(kClient, [&] { runLoad(service_, options, *result_); });
    if (pid) pods_.forget(*pid);
    return pid;
  }

  ImpactRun latencies() const {
    const size_t count = std::min<size_t>(result_->count, LoadResult::kMost);
    std::vector<double> values(result_->latencyMs, result_->latencyMs + count);
    std::sort(values.begin(), values.end());
    ImpactRun out;
    out.p50 = stats::quantile(values, 0.5);
    out.p99 = stats::quantile(values, 0.99);
    out.p999 = stats::quantile(values, 0.999);
    out.served =
        static_cast<double>(count) / std::chrono::duration<double>(options_.length).count();
    return out;
  }

  const ImpactOptions& options_;
  PodCgroups& pods_;
  kernel::SysRoot root_;
  std::string dir_;
  Service service_;
  LoadResult* result_ = nullptr;
  std::vector<int> batch_;
  long cpus_ = 1;
};

}  // namespace

Result<ImpactBench> runImpactBench(const ImpactOptions& options) {
  auto pods = PodCgroups::make(fmt::format("mangrove-impact-{}", ::getpid()));
  if (!pods) return pods.error().in("cgroups of the benchmark");
  Impact impact(options, *pods);
  if (auto ok = impact.start(); !ok) return pass(ok.error());
  ImpactBench bench;
  bench.service = impact.service().name;
  bench.rate = options.rate;
  bench.cpus = impact.cpus();
  bench.cgroupV2 = pods->isV2();
  bench.rule = options.discard.text();
  for (const RowPlan& plan : kRows) {
    ImpactRow row;
    row.name = plan.name;
    row.placement = plan.placement;
    bench.rows.push_back(std::move(row));
  }
  const auto order =
      stats::interleaved(bench.rows.size(), static_cast<size_t>(options.runs), options.seed);
  for (size_t index : order) {
    auto run = impact.run(bench.rows[index].placement);
    if (!run) return run.error().in("{}", bench.rows[index].name);
    bench.rows[index].runs.push_back(*run);
  }
  summarise(options.seed, bench);
  return bench;
}

}  // namespace mangrove::agent
