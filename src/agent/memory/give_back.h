#pragma once
// Climbs the ladder on this machine: watches how much room is left below the pods' limit and on the
// node, and when services will miss memory takes it back from best-effort pods, one rung at a time,
// measuring what each freed. Lowering a limit can block for long, hence a thread of its own.
//
//   GiveBack giveBack(root, clock, {.onRung = …, .onEvict = …});
//   giveBack.order(orders);      // at every tick
//   giveBack.start();
//   for (const MemoryCap& cap : giveBack.caps()) …     // what the executor is to keep in force
//
// Like the sentinel it only narrows; the executor widens when a cap is gone. order(), caps(),
// frozen(), adopt() and rest() from any thread; turn() is the thread's and that of tests. Stopping
// thaws everybody.

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "agent/executor/value.h"
#include "agent/memory/forecast.h"
#include "agent/memory/ladder.h"
#include "agent/memory/watermark.h"
#include "base/clock.h"
#include "kernel/hierarchies.h"
#include "kernel/sys_root.h"

namespace mangrove::agent {

struct BatchPodOrder {
  std::string uid;
  std::string cgroup;
  int64_t priority = 0;
  bool evictable = false;
  bool leaving = false;
  victims::Candidate stake = {};  // what it loses by an eviction
};

struct GiveBackOrders {
  std::shared_ptr<const kernel::Hierarchies> trees;
  std::string procMemInfo = "proc/meminfo";
  std::string pods;                   // the cgroup of all pods: its limit is watched
  std::string beside = {};            // best-effort pods that are not below it count with it
  std::vector<std::string> services;  // directories with memory.pressure
  std::vector<BatchPodOrder> batch;
  std::vector<ReclaimMark> marks;  // kept once a second
  RungsThere there = {};
  bool dryRun = false;
};

// What one rung brought.
struct RungReport {
  WallTime at{};
  RungKind kind{};
  std::string uid, cgroup;
  Bytes wanted, freed;
  Duration took{};
  std::string outcome;  // "done", or what the kernel said
};

struct GiveBackOptions {
  Duration interval = std::chrono::milliseconds(100);
  ForecastOptions forecast = {};
  Duration spent = std::chrono::seconds(5);  // a rung that freed nothing is left alone for so long
  // A pod that was asked to leave counts as leaving for so long; then its order says whether it is.
  Duration asked = std::chrono::seconds(3);
  Duration relaxed = std::chrono::seconds(10);  // room enough for so long: limits grow again
  std::function<void(const RungReport&)> onRung = {};
  std::function<void(const std::string& uid, Bytes frees, const std::string& loss)> onEvict = {};
};

struct MemoryCap {
  std::string cgroup;
  std::string_view resource;  // memory.high or memory.limit_in_bytes
  Bytes most;
  // What the file had before the first cut, kUnlimited included: what it goes back to.
  int64_t before = kUnlimited;
};

class GiveBack {
 public:
  GiveBack(const kernel::SysRoot& root, const Clock& clock, GiveBackOptions options);
  ~GiveBack();

  void start();
  void stop();
  void order(GiveBackOrders orders);
  void rest();

  std::vector<MemoryCap> caps() const;
  // The same, and none are left: whoever takes them gives the files back.
  std::vector<MemoryCap> takeCaps();
  std::vector<std::string> frozen() const;  // cgroups
  // Frozen by a predecessor that died.
  void adopt(const std::vector<std::string>& frozen);
  // The need as of the last turn.
  MemoryNeed need() const;

  // Looks, and takes one rung if memory is wanted. Returns how long to sleep.
  Duration turn();

 private:
  struct Known {  // of a batch pod
    Bytes current;
    MonoTime at{};
    double growth = 0;
    std::map<RungKind, MonoTime> spent;
    MonoTime askedAt = MonoTime::min();  // to leave
  };
  using Orders = std::shared_ptr<const GiveBackOrders>;
  void run();
  std::optional<MemorySight> look(const GiveBackOrders& orders, MonoTime now);
  double stalled(const GiveBackOrders& orders, MonoTime now);
  BatchGroup groupOf(const GiveBackOrders& orders, const BatchPodOrder& pod, MonoTime now);
  void climbOnce(const GiveBackOrders& orders, Bytes wanted, MonoTime now);
  void step(const GiveBackOrders& orders, const Rung& rung, const BatchGroup& group, MonoTime now);
  RungReport take(const GiveBackOrders& orders, const Rung& rung, const BatchGroup& group);
  Result<> narrow(const GiveBackOrders& orders, const BatchPodOrder& pod, std::string_view resource,
                  Bytes most);
  Result<> freeze(const GiveBackOrders& orders, const std::string& cgroup, bool frozen);
  void thawLeaving(const GiveBackOrders& orders);
  void relax(const GiveBackOrders& orders, const MemoryNeed& need, MonoTime now);
  void keepMarks(const GiveBackOrders& orders, MonoTime now);
  void thawAll();
  Bytes currentOf(const GiveBackOrders& orders, std::string_view cgroup) const;

  const kernel::SysRoot& root_;
  const Clock& clock_;
  GiveBackOptions options_;

  mutable std::mutex mutex_;
  Orders orders_;
  std::map<std::string, MemoryCap> caps_;  // by cgroup
  std::vector<std::string> frozen_;
  MemoryNeed need_;
  bool ending_ = false;
  std::condition_variable bell_;

  // The thread's own.
  MemoryForecast forecast_, nodeForecast_;
  std::map<std::string, Known> known_;  // by uid
  std::map<std::string, std::pair<Duration, MonoTime>> stalls_;
  Bytes total_;
  bool nodeIsShort_ = false;
  MonoTime easySince_ = MonoTime::min();
  MonoTime relaxedAt_ = MonoTime::min();
  WatermarkKeeper keeper_;
  MonoTime keptAt_ = MonoTime::min();
  Orders last_;  // to thaw by when there are no orders any more
  std::thread thread_;
};

}  // namespace mangrove::agent
