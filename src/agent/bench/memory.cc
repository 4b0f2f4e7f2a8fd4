#include "agent/bench/memory.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/bench/pod_cgroups.h"
#include "base/os/fd.h"
#include "json/value.h"
#include "kernel/control_files.h"
#include "kernel/pressure.h"
#include "kernel/read_text.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

using std::chrono::milliseconds;

constexpr const char* kService = "5e1fc0de-0000-0000-0000-000000000011";
constexpr const char* kBatch = "5e1fc0de-0000-0000-0000-000000000012";
constexpr size_t kStep = 4 << 20;
constexpr Duration kPatience = std::chrono::seconds(30);

// What the processes say, in memory shared with them.
struct Shared {
  std::atomic<int64_t> batchHolds;  // bytes
  std::atomic<int64_t> serviceHolds;
  std::atomic<int64_t> longestStepNs;
  std::atomic<bool> serviceDone;
};

char* anonymous(size_t size) {
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<char*>(memory);
}

void holdAnonymous(Shared& shared, size_t size) {
  char* memory = anonymous(size);
  if (memory == nullptr) return;
  for (size_t at = 0; at < size; at += kStep) {
    std::memset(memory + at, 1, std::min(kStep, size - at));
    shared.batchHolds = static_cast<int64_t>(std::min(at + kStep, size));
  }
  for (;;) ::pause();
}

// Page cache by writing a file, or by reading a device where there is no disk to write to.
void holdCache(Shared& shared, size_t size, const char* path, bool device) {
  const int fd = ::open(path, device ? O_RDONLY : O_RDWR | O_CREAT | O_TRUNC, 0600);
  char* block = anonymous(kStep);
  if (fd < 0 || block == nullptr) return;
  std::memset(block, 1, kStep);
  for (size_t at = 0; at < size; at += kStep) {
    if ((device ? ::read(fd, block, kStep) : ::write(fd, block, kStep)) <= 0) return;
    shared.batchHolds = static_cast<int64_t>(at + kStep);
  }
  ::fsync(fd);
  for (;;) ::pause();
}

// Grows at its pace; how long each step took is what a request of the service would notice.
void grow(Shared& shared, size_t size, Duration perStep) {
  char* memory = anonymous(size);
  const Clock& clock = realClock();
  MonoTime next = clock.mono();
  for (size_t at = 0; memory != nullptr && at < size; at += kStep) {
    const MonoTime begun = clock.mono();
    std::memset(memory + at, 1, std::min(kStep, size - at));
    const int64_t took = (clock.mono() - begun).count();
    if (took > shared.longestStepNs) shared.longestStepNs = took;
    shared.serviceHolds = static_cast<int64_t>(std::min(at + kStep, size));
    next += perStep;
    const Duration left = next - clock.mono();
    if (left > Duration::zero()) ::usleep(static_cast<useconds_t>(left.count() / 1000));
  }
  shared.serviceDone = true;
  for (;;) ::pause();
}

template <class F>
bool eventually(F ready, Duration limit) {
  const MonoTime end = realClock().mono() + limit;
  while (realClock().mono() < end) {
    if (ready()) return true;
    std::this_thread::sleep_for(milliseconds(20));
  }
  return false;
}

class Row {
 public:
  Row(const MemoryBenchOptions& options, Shared& shared, MemoryRow& out)
      : options_(options), shared_(shared), out_(out) {}

  Result<> run(bool cache) {
    auto pods = PodCgroups::make(fmt::format("mangrove-memory-{}", ::getpid()));
    if (!pods) return pods.error().in("cgroups of the benchmark");
    if (auto ok = fill(*pods, cache); !ok) return ok;
    std::unique_ptr<GiveBack> giveBack;
    if (out_.giveBack) giveBack = startGiveBack(*pods);
    const Duration stalledBefore = stalled(*pods);
    const MonoTime begun = realClock().mono();
    go_->store(true);
    eventually([&] { return shared_.serviceDone || died(service_); }, kPatience);
    out_.seconds = std::chrono::duration<double>(realClock().mono() - begun).count();
    out_.reached = shared_.serviceDone;
    out_.serviceKilled = !shared_.serviceDone && died(service_);
    out_.stalledMs =
        std::chrono::duration<double, std::milli>(stalled(*pods) - stalledBefore).count();
    out_.longestStep = static_cast<double>(shared_.longestStepNs) / 1e6;
    out_.batchKilled = !out_.batchEvicted && died(batch_);
    giveBack.reset();
    std::lock_guard lock(mutex_);
    out_.rungs = rungs_;
    return {};
  }

 private:
  static bool died(int pid) { return ::kill(pid, 0) != 0 || isZombie(pid); }
  static bool isZombie(int pid) {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == pid;
  }
  size_t share(int64_t percent) const {
    return static_cast<size_t>(options_.limitMiB * percent / 100) << 20;
  }
  std::string file(const PodCgroups& pods, std::string_view resource, std::string cgroup) const {
    return kernel::filePath(pods.trees(), *kernel::findResource(resource), cgroup).value_or("");
  }

  // The limit, the batch pod with its memory, the service that waits for its turn.
  Result<> fill(PodCgroups& pods, bool cache) {
    const std::string top = PodCgroups::tierDir(kernel::PodTier::kGuaranteed);
    auto ok = root_.write(file(pods, kernel::resource_name::kMemoryLimit, top),
                          std::to_string(options_.limitMiB << 20));
    if (!ok) return ok.error().in("the pods' memory limit");
    if (ok = pods.add(kService, 1, false); !ok) return ok;
    if (ok = pods.add(kBatch, 1, false, kernel::PodTier::kBestEffort); !ok) return ok;
    go_ = static_cast<std::atomic<bool>*>(
        ::mmap(nullptr, sizeof *go_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    const size_t held = share(options_.batchPercent), wanted = share(options_.servicePercent);
    struct stat what {};
    const bool device = ::stat(options_.scratch.c_str(), &what) == 0 && S_ISBLK(what.st_mode);
    const std::string path =
        device ? options_.scratch
               : fmt::format("{}/mangrove-memory-{}", options_.scratch, ::getpid());
    auto batch = pods.start(kBatch, [&] {
      if (cache) holdCache(shared_, held, path.c_str(), device);
      holdAnonymous(shared_, held);
    });
    if (!batch) return pass(batch.error());
    batch_ = *batch;
    const Duration perStep = Duration(std::chrono::seconds(1)) * 4 / options_.growMiBPerSecond;
    auto service = pods.start(kService, [&] {
      while (!go_->load()) ::usleep(1000);
      grow(shared_, wanted, perStep);
    });
    if (!service) return pass(service.error());
    service_ = *service;
    const bool full =
        eventually([&] { return shared_.batchHolds >= static_cast<int64_t>(held); }, kPatience);
    if (!device) ::unlink(path.c_str());
    return full ? Result<>() : fail(Code::kUnavailable, "the batch pod did not get its memory");
  }

  std::unique_ptr<GiveBack> startGiveBack(const PodCgroups& pods) {
    GiveBackOptions options;
    options.onRung = [this](const RungReport& report) {
      std::lock_guard lock(mutex_);
      rungs_.push_back(report);
    };
    // What a kubelet does with an evicted pod, without the API between.
    options.onEvict = [this](const std::string&, Bytes, const std::string&) { evict(); };
    auto giveBack = std::make_unique<GiveBack>(root_, realClock(), options);
    GiveBackOrders orders;
    orders.trees = std::make_shared<const kernel::Hierarchies>(pods.trees());
    orders.pods = PodCgroups::tierDir(kernel::PodTier::kGuaranteed);
    orders.services = {pods.trees().pressurePath(PodCgroups::tierDir(kernel::PodTier::kBurstable))};
    orders.batch = {{kBatch, pods.podDir(kBatch), 0, true, false, {}}};
    const bool v2 = pods.isV2();
    orders.there = {.high = v2,
                    .reclaim = v2 && root_
                                         .exists(file(pods, kernel::resource_name::kMemoryReclaim,
                                                      pods.podDir(kBatch)))
                                         .value_or(false),
                    .limit = !v2,
                    .freeze = true,
                    .evict = true,
                    .swap = false};
    giveBack->order(std::move(orders));
    giveBack->start();
    return giveBack;
  }

  void evict() {
    if (out_.batchEvicted) return;
    out_.batchEvicted = true;
    const MonoTime begun = realClock().mono();
    const Bytes held{shared_.batchHolds};
    ::kill(batch_, SIGTERM);
    eventually([&] { return died(batch_); }, std::chrono::seconds(5));
    std::lock_guard lock(mutex_);
    rungs_.push_back({realClock().wall(), RungKind::kEvict, kBatch, "", held, held,
                      realClock().mono() - begun, "gone"});
  }

  Duration stalled(const PodCgroups& pods) const {
    const std::string dir =
        pods.trees().pressurePath(PodCgroups::tierDir(kernel::PodTier::kBurstable));
    auto text =
        kernel::readText(root_, kernel::joinPath({dir, kernel::resource_name::kMemoryPressure}));
    if (!text || !*text) return {};
    auto pressure = kernel::parsePressure(**text);
    return pressure ? pressure->some.total : Duration{};
  }

  const MemoryBenchOptions& options_;
  Shared& shared_;
  MemoryRow& out_;
  kernel::SysRoot root_;
  std::atomic<bool>* go_ = nullptr;
  int batch_ = 0, service_ = 0;
  std::mutex mutex_;
  std::vector<RungReport> rungs_;
};

}  // namespace

Result<MemoryBench> runMemoryBench(const MemoryBenchOptions& options) {
  MemoryBench bench;
  bench.limitMiB = options.limitMiB;
  struct Kind {
    const char* name;
    bool cache, giveBack;
  };
  for (const Kind& kind :
       {Kind{"page cache", true, true}, Kind{"page cache, nobody gives", true, false},
        Kind{"anonymous", false, true}, Kind{"anonymous, nobody gives", false, false}}) {
    void* memory =
        ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return failErrno(errno, "shared memory");
    MemoryRow row;
    row.name = kind.name;
    row.giveBack = kind.giveBack;
    auto ok = Row(options, *static_cast<Shared*>(memory), row).run(kind.cache);
    ::munmap(memory, sizeof(Shared));
    if (!ok) return ok.error().in("{}", kind.name);
    bench.rows.push_back(std::move(row));
  }
  auto trees = kernel::Hierarchies::detect(kernel::SysRoot(), {});
  bench.cgroupV2 = trees && trees->isV2();
  return bench;
}

std::string toTable(const MemoryBench& b) {
  std::string out = fmt::format("limit {} MiB, cgroup v{}\n", b.limitMiB, b.cgroupV2 ? 2 : 1);
  for (const MemoryRow& row : b.rows) {
    out += fmt::format(
        "{:<26} service {} after {:.1f} s, longest 4 MiB step {:.1f} ms, stalled {:.0f} ms in "
        "all{}\n",
        row.name,
        row.reached         ? "has its memory"
        : row.serviceKilled ? "was killed"
                            : "still waits",
        row.seconds, row.longestStep, row.stalledMs,
        row.batchEvicted  ? ", batch evicted"
        : row.batchKilled ? ", batch killed by the kernel"
                          : "");
    for (const RungReport& rung : row.rungs)
      out += fmt::format(
          "  {:<8} wanted {:7.1f} MiB, freed {:7.1f} MiB in {:7.1f} ms  {}\n", rungName(rung.kind),
          double(rung.wanted.v) / double(kMiB.v), double(rung.freed.v) / double(kMiB.v),
          std::chrono::duration<double, std::milli>(rung.took).count(), rung.outcome);
  }
  return out;
}

std::string toJson(const MemoryBench& b) {
  json::Array rows;
  for (const MemoryRow& row : b.rows) {
    json::Array rungs;
    for (const RungReport& rung : row.rungs)
      rungs.push_back(
          json::Object{{"rung", rungName(rung.kind)},
                       {"wantedBytes", rung.wanted.v},
                       {"freedBytes", rung.freed.v},
                       {"ms", std::chrono::duration<double, std::milli>(rung.took).count()},
                       {"outcome", rung.outcome}});
    rows.push_back(json::Object{{"name", row.name},
                                {"reached", row.reached},
                                {"serviceKilled", row.serviceKilled},
                                {"batchEvicted", row.batchEvicted},
                                {"batchKilled", row.batchKilled},
                                {"seconds", row.seconds},
                                {"longestStepMs", row.longestStep},
                                {"stalledMs", row.stalledMs},
                                {"rungs", std::move(rungs)}});
  }
  return json::writePretty(json::Object{{"limitMiB", b.limitMiB},
                                        {"cgroupVersion", b.cgroupV2 ? 2 : 1},
                                        {"rows", std::move(rows)}}) +
         "\n";
}

}  // namespace mangrove::agent
