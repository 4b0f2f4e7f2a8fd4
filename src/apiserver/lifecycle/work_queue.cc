#include "apiserver/lifecycle/work_queue.h"

#include <utility>

namespace mangrove::apiserver {

namespace {

constexpr int kPerTurn = 64;
constexpr double kUnlimited = 1e6;  // each key has its own pause; there is no limit over all

}  // namespace

WorkQueue::WorkQueue(Context& context, Work work)
    : work_(std::move(work)),
      queue_(context.clock, {.name = "lifecycle",
                             .firstDelay = std::chrono::seconds(1),
                             .maxDelay = std::chrono::seconds(64),
                             .perSecond = kUnlimited,
                             .burst = kUnlimited}) {
  auto post = [this, life = life_.token(), posted = posted_, owner = &context.owner] {
    if (!posted->exchange(true)) owner->post(life.guard([this] { run(); }));
  };
  queue_.onWake(post);
  post_ = post;
}

void WorkQueue::add(const store::Key& key) {
  queue_.add(store::keyText(key));
}

void WorkQueue::retry(const store::Key& key) {
  queue_.addRateLimited(store::keyText(key));
}

void WorkQueue::forget(const store::Key& key) {
  queue_.forget(store::keyText(key));
}

void WorkQueue::run() {
  *posted_ = false;
  for (int i = 0; i < kPerTurn; ++i) {
    const auto key = queue_.tryGet();
    if (!key) return;
    work_(store::keyOf(*key));
    queue_.done(*key);
  }
  if (queue_.ready() > 0) post_();
}

}  // namespace mangrove::apiserver
