#pragma once
// Objects a controller still has to look at, each at most once in the queue. The work runs later on
// the owner thread, a handful at a time, so that requests get their turn in between; what failed
// comes back after a pause that doubles with every failure.
//
//   WorkQueue queue(context, [this](const store::Key& key) { examine(key); });
//   queue.add(object->key());
//   queue.retry(key);                 // it failed: not before a second from now
//   queue.forget(key);                // it worked: the next failure starts small again
//
// Owner thread. Must outlive the messages in context.owner.

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "apiserver/core/server.h"
#include "base/clock.h"
#include "store/object.h"

namespace mangrove::apiserver {

class WorkQueue {
 public:
  using Work = std::function<void(const store::Key&)>;

  WorkQueue(Context& context, Work work) : context_(context), work_(std::move(work)) {}

  void add(store::Key key);
  void retry(store::Key key);
  void forget(const store::Key& key);

 private:
  struct Failing {
    int times = 0;
    Timer timer;
  };
  void schedule();
  void run();

  Context& context_;
  Work work_;
  std::deque<store::Key> waiting_;
  std::set<std::string> queued_;            // keyText of those waiting
  std::map<std::string, Failing> failing_;  // by keyText
  bool scheduled_ = false;
};

}  // namespace mangrove::apiserver
