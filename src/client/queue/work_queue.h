#pragma once
// Keys to work on. A key that is added twice before somebody takes it is handed out once; a key
// added while it is being worked on is handed out again after done(). Keys can be added late
// (addAfter) or with a growing delay after failures (addRateLimited … forget).
//
// All functions may be called from any thread. Time comes from the Clock. An owner thread uses
// tryGet() and is told through onWake; worker threads use the blocking get().
//
//   WorkQueue queue(clock, {.name = "node-resource"});
//   queue.onWake([&] { owner.post([&] { pump(); }); });
//   void pump() {
//     while (auto key = queue.tryGet()) {
//       if (reconcile(*key)) queue.forget(*key); else queue.addRateLimited(*key);
//       queue.done(*key);
//     }
//   }

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/fn.h"
#include "base/number/units.h"

namespace mangrove::client {

struct WorkQueueOptions {
  std::string name = "queue";
  // Per key: firstDelay × 2^failures, at most maxDelay (the ecosystem's defaults for controllers).
  Duration firstDelay = std::chrono::milliseconds(5);
  Duration maxDelay = std::chrono::seconds(1000);
  // Over all keys: how many rate-limited additions per second.
  double perSecond = 10;
  double burst = 100;
};

struct WorkQueueStats {
  uint64_t adds = 0;     // accepted, merged ones included
  uint64_t merged = 0;   // additions that met the same key still waiting
  uint64_t retries = 0;  // rate-limited additions
  uint64_t taken = 0;    // handed out
};

class WorkQueue {
 public:
  explicit WorkQueue(Clock& clock, WorkQueueOptions options = {});
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  void add(std::string_view key);
  // A key that already waits for a time keeps the earlier one.
  void addAfter(std::string_view key, Duration delay);
  // Adds after the key's own back-off or the overall rate, whichever is longer.
  void addRateLimited(std::string_view key);
  // The key succeeded: its next failure starts with the short delay again.
  void forget(std::string_view key);
  int failures(std::string_view key) const;

  // The next key, or nullopt when none is ready.
  std::optional<std::string> tryGet();
  // Waits for a key. nullopt: the queue was shut down and everything in it has been handed out.
  std::optional<std::string> get();
  // Whoever took a key says when it is finished, whatever the outcome.
  void done(std::string_view key);

  // Called (from any thread, no lock held) whenever a key becomes ready. Set before first use; runs
  // a post, not the work itself.
  void onWake(Fn wake);

  // No key is accepted any more; those inside can still be taken; delayed ones are dropped.
  void shutDown();
  // shutDown, then waits until every key taken or still inside is done. Not for the thread that
  // works.
  void shutDownAndDrain();
  bool shuttingDown() const;

  size_t ready() const;    // waiting to be taken
  size_t delayed() const;  // waiting for their time
  size_t working() const;  // taken, not done
  WorkQueueStats stats() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with pending timer callbacks, which may outlive us
};

}  // namespace mangrove::client
