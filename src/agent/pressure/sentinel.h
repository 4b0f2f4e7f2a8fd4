#pragma once
// The agent's reflex: a thread that watches how long services wait for a CPU and cuts best-effort
// work within one turn of its loop, without waiting for the owner. It only ever narrows; growing is
// left to the executor, which sees the sentinel's limit as a wish among others.
//
//   Sentinel sentinel(root, clock, {.onCut = [&](const Cut& cut) { owner.post(…); }});
//   sentinel.order(orders);               // at every tick: what to watch, which file to cut
//   sentinel.start();
//   int64_t cap = sentinel.cap();         // what the executor may let best-effort work have
//
// Where the kernel grants triggers with short windows the thread sleeps until one fires; elsewhere
// it reads the totals every `interval`. order(), rest(), cap() and status() from any thread; turn()
// is the thread's and that of tests. Destroying it ends the thread.

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "agent/executor/reflex_file.h"
#include "agent/pressure/governor.h"
#include "agent/pressure/meter.h"
#include "base/clock.h"
#include "base/os/fd.h"
#include "kernel/cgroup_stat.h"
#include "kernel/sys_root.h"

namespace mangrove::agent {

// What to watch and what to cut. Paths are relative to the root.
struct SentinelOrders {
  WatchedFiles watch;
  std::string quotaFile;  // of the best-effort group
  std::string usageFile;
  kernel::CgroupVersion version = kernel::CgroupVersion::kV1;
  GovernorOptions governor = {};
  bool dryRun = false;
};

struct Cut {
  MonoTime at{};       // when it was decided
  MonoTime written{};  // when the file had it
  int64_t from = kUnlimited;
  int64_t to = kUnlimited;
  double waited = 0;
  std::string group;    // the services that waited
  std::string trouble;  // why it could not be written; "" when it was
};

struct SentinelOptions {
  Duration interval = std::chrono::milliseconds(50);      // between readings
  Duration busyInterval = std::chrono::milliseconds(25);  // while a limit is in force
  std::function<void(const Cut&)> onCut = {};             // in the sentinel's thread
};

struct SentinelStatus {
  // trigger, poll, node (the machine's pressure instead of services'), idle (idle CPUs instead of
  // pressure), blind (neither), resting
  std::string mode = "resting";
  size_t groups = 0;
  int64_t cap = kUnlimited;
  double baseline = 0;
  uint64_t turns = 0, cuts = 0, repaired = 0;
};

class Sentinel {
 public:
  Sentinel(const kernel::SysRoot& root, const Clock& clock, SentinelOptions options);
  ~Sentinel();

  void start();
  void stop();
  void order(SentinelOrders orders);
  // Nothing is watched and nothing is held any more.
  void rest();

  int64_t cap() const { return cap_.load(); }
  SentinelStatus status() const;

  // One turn: look at the pressure, cut if need be. Returns how long to sleep.
  Duration turn(bool alarmed);

 private:
  using Orders = std::shared_ptr<const SentinelOrders>;
  void run();
  void adopt(const Orders& orders);
  void act(const SentinelOrders& orders, const Ruling& ruling, const PressureSample& sample,
           int64_t before);
  const char* mode() const;
  void enforceCap(const SentinelOrders& orders);
  Result<bool> narrow(const SentinelOrders& orders, int64_t quota, std::optional<int64_t> has);
  double usedSince(const SentinelOrders& orders, MonoTime now);
  void publish(const char* mode);
  void wake();
  bool sleep(Duration limit);

  const kernel::SysRoot& root_;
  const Clock& clock_;
  SentinelOptions options_;
  std::atomic<Orders> orders_;
  std::atomic<int64_t> cap_ = kUnlimited;
  std::atomic<bool> ending_ = false;
  UniqueFd bell_;  // eventfd: new orders or the end

  // The thread's own.
  Orders adopted_;
  PressureMeter meter_;
  std::span<const ServiceWait> waits_;  // of the last reading
  std::optional<PressureGovernor> governor_;
  std::optional<ReflexFile> quota_;
  std::optional<kernel::File> usage_;
  std::optional<Duration> usedTotal_;
  MonoTime usedAt_{};
  MonoTime quietSince_ = MonoTime::min();

  std::mutex acting_;         // during a turn: after rest() none writes any more
  mutable std::mutex mutex_;  // of status_ alone
  SentinelStatus status_;
  std::thread thread_;
};

}  // namespace mangrove::agent
