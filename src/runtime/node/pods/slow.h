#pragma once
// How a PodWorker does slow things: on its preparing thread, with the result brought back to the
// owner, and nothing else begun meanwhile.

#include <memory>

#include "runtime/node/pods/pod_worker.h"

namespace mangrove::runtime {

template <class T, class Work, class Then>
void PodWorker::inBackground(PodWorker& self, Work work, Then then) {
  self.busy_ = true;
  self.preparing_.post([weak = self.weak_from_this(), &owner = self.parts_.owner,
                        work = std::move(work), then = std::move(then)]() mutable {
    if (weak.expired()) return;
    auto result = std::make_shared<T>(work());
    owner.post([weak, result, then = std::move(then)]() mutable {
      auto alive = weak.lock();
      if (!alive || alive->left_) return;
      alive->busy_ = false;
      alive->again_ = false;
      then(*alive, std::move(*result));
      if (!alive->busy_ && !alive->finished_ && std::exchange(alive->again_, false)) alive->sync();
    });
  });
}

}  // namespace mangrove::runtime
