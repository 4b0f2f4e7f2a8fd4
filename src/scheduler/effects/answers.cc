#include "scheduler/effects/answers.h"

namespace mangrove::scheduler {

void Answers::sent() {
  std::lock_guard lock(mutex_);
  underWay_++;
}

void Answers::add(Done done, Result<client::Reply> reply) {
  std::lock_guard lock(mutex_);
  underWay_--;
  if (!owner_) return;
  ready_.push_back({std::move(done), std::move(reply)});
  if (posted_ || (underWay_ >= kFew && ready_.size() < kBunch)) return;
  posted_ = true;
  owner_->post([self = shared_from_this()] { self->deliver(); });
}

bool Answers::isBusy() const {
  std::lock_guard lock(mutex_);
  return owner_ && underWay_ >= kFew;
}

void Answers::deliver() {
  onBunch_();
  std::vector<Answer> ready;
  {
    std::lock_guard lock(mutex_);
    posted_ = false;
    ready.swap(ready_);
  }
  for (Answer& answer : ready) {
    if (!owner_) return;  // closed by the one before
    answer.done(std::move(answer.reply));
  }
}

void Answers::close() {
  std::vector<Answer> dropped;  // goes after the lock: what it owns may call us again
  std::lock_guard lock(mutex_);
  owner_ = nullptr;
  onBunch_ = [] {};
  dropped.swap(ready_);
}

}  // namespace mangrove::scheduler
