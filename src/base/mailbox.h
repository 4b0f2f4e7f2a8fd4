#pragma once
// The owner thread's queue. Each role has one owner thread that holds all of its state and takes
// all of its decisions; everybody else only posts messages to it, so decision code needs no locks.
//
//   Mailbox owner;
//   client.submit(request, [&](Result<Reply> r) { owner.post([...] { apply(r); }); });
//   owner.run();                                  // until stop()

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>

#include "base/fn.h"
#include "base/number/units.h"

namespace mangrove {

class Mailbox {
 public:
  // Any thread. Messages run in the order in which they were posted. After stop() they are dropped.
  void post(Fn message);
  // Any thread. run() returns after the message it is in; queued messages are destroyed unrun.
  void stop();
  bool stopped() const;

  // Owner thread: runs messages until stop().
  void run();
  // Owner thread: runs what is queued now (messages posted meanwhile included), returns how many.
  // For tests and single-threaded compositions.
  size_t drain();
  // Owner thread: waits up to `limit` (real time) for a message and runs it; false when none came.
  bool runOne(Duration limit);

 private:
  Fn take();  // the oldest message, empty when there is none; under the lock

  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Fn> queue_;
  bool stopped_ = false;
};

}  // namespace mangrove
