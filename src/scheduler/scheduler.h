#pragma once
// A scheduler on an API: watches what placement depends on, decides as fast as it can, writes
// bindings, conditions and events. The role runs it behind a lease; `up` and tests run it in
// process.
//
//   client::Worker worker;
//   auto scheduler = Scheduler::make({client, clock, owner, worker.mailbox(), metrics,
//                                     defaultConfig({"koord-scheduler", "default-scheduler"})});
//   (*scheduler)->start();            // watches begin
//   (*scheduler)->setActive(true);    // and bindings, as soon as the caches are filled
//
// Threads: made, used and destroyed in the owner's thread. Destroy it before the worker and the
// client.

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/mailbox.h"
#include "base/metrics.h"
#include "client/api_client.h"
#include "placement/config/config.h"
#include "scheduler/names.h"

namespace mangrove::placement {
class Engine;
}

namespace mangrove::scheduler {

// Of a client that a scheduler binds through: one binding is under way on each. More of them let
// the server write more in one go; kube-apiserver takes 200 writes at a time.
inline constexpr int kServerConnections = 192;

struct SchedulerSetup {
  client::ApiClient& client;
  Clock& clock;
  Mailbox& owner;
  Mailbox& home;  // where objects are decoded
  Registry& metrics;
  SchedulerConfig config;
  uint64_t seed = 1;
  size_t maxBindings = 4 * kServerConnections;  // on their way at the same time
  bool victimsSave = false;                     // gate CheckpointPreemption
};

class Scheduler {
 public:
  static Result<std::unique_ptr<Scheduler>> make(SchedulerSetup setup);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  void start();
  void setActive(bool active);              // decides only while active
  void hold(bool held);                     // pods queue up meanwhile; for benchmarks
  bool synced() const;                      // everything that must be known is known
  void onFilled(std::function<void()> fn);  // called once, when that is first so
  // Nothing is under way: bindings and other writes are answered, events are written. Pods may
  // wait.
  bool idle() const;
  // Stops deciding; `done` runs when everything under way has its answer.
  void stop(Fn done);

  Engine& engine();

 private:
  class Impl;
  explicit Scheduler(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace mangrove::scheduler
