#pragma once
// Objects a controller still has to look at: client::WorkQueue by keys of the store, worked off on
// the owner thread, a handful at a time, so that requests get their turn in between. What failed
// comes back after a pause that doubles with every failure, from a second to a minute.
//
//   WorkQueue queue(context, [this](const store::Key& key) { examine(key); });
//   queue.add(object->key());
//   queue.retry(key);                 // it failed: not before a second from now
//   queue.forget(key);                // it worked: the next failure starts small again
//
// Owner thread.

#include <atomic>
#include <functional>
#include <memory>

#include "apiserver/core/server.h"
#include "base/lifetime.h"
#include "client/queue/work_queue.h"
#include "store/object.h"

namespace mangrove::apiserver {

class WorkQueue {
 public:
  using Work = std::function<void(const store::Key&)>;

  WorkQueue(Context& context, Work work);

  void add(const store::Key& key);
  void retry(const store::Key& key);
  void forget(const store::Key& key);

 private:
  void run();

  Work work_;
  // A message for run() is on its way; also set by the clock's thread, which may come after us.
  std::shared_ptr<std::atomic<bool>> posted_ = std::make_shared<std::atomic<bool>>(false);
  Fn post_;
  client::WorkQueue queue_;
  Lifetime life_;
};

}  // namespace mangrove::apiserver
