#include "manager/control_loop.h"

#include <algorithm>

#include "base/os/log.h"

namespace mangrove::manager {
namespace {

const Logger log("manager");

// Keys per message, so that one long pass does not keep the owner from everything else.
constexpr int kKeysAtOnce = 64;

}  // namespace

void WriteWindow::end(bool refused) {
  underWay_--;
  if (refused) {
    size_ = std::max(limits_.least, size_ / 2);
    goodInARow_ = 0;
  } else if (++goodInARow_ >= size_) {
    size_ = std::min(limits_.most, size_ + 1);
    goodInARow_ = 0;
  }
  for (auto& fn : onRoom_) fn();
}

ControlLoop::ControlLoop(Clock& clock, Mailbox& owner, WriteWindow& window, std::string name,
                         Reconcile reconcile)
    : owner_(owner),
      window_(window),
      name_(std::move(name)),
      reconcile_(std::move(reconcile)),
      queue_(clock, {.name = name_}),
      posted_(std::make_shared<std::atomic<bool>>(false)) {
  queue_.onWake([this, owner = &owner_, here = life_.token(), posted = posted_] {
    if (posted->exchange(true)) return;  // one message is enough for any number of keys
    owner->post([this, here, posted] {
      posted->store(false);
      if (!here.gone()) pump();
    });
  });
  window_.onRoom(life_.guard([this] { wake(); }));
}

ControlLoop::~ControlLoop() {
  life_.end();
  queue_.shutDown();
}

// Only when something can be taken: a full window wakes us when it has room again.
void ControlLoop::wake() {
  if (!running_ || !window_.isOpen() || mustWait() || queue_.ready() == 0) return;
  if (posted_->exchange(true)) return;
  owner_.post([this, here = life_.token(), posted = posted_] {
    posted->store(false);
    if (!here.gone()) pump();
  });
}

// The other one wakes us when it has nothing left.
bool ControlLoop::mustWait() const {
  return first_ && first_->running_ && first_->queue_.ready() > 0;
}

void ControlLoop::letFirst(ControlLoop& first) {
  first_ = &first;
  first.later_.push_back(this);
}

void ControlLoop::run() {
  running_ = true;
  wake();
}

void ControlLoop::pause() {
  running_ = false;
}

void ControlLoop::pump() {
  if (mustWait()) return;
  for (int i = 0; i < kKeysAtOnce && running_ && window_.isOpen(); i++) {
    auto key = queue_.tryGet();
    if (!key) break;
    take(*key);
  }
  wake();
  if (queue_.ready() == 0)
    for (auto* loop : later_) loop->wake();
}

void ControlLoop::take(const std::string& key) {
  reconcile_(key, life_.guard([this, key](const Result<>& outcome) { finish(key, outcome); }));
}

void ControlLoop::finish(const std::string& key, const Result<>& outcome) {
  if (outcome) {
    queue_.forget(key);
  } else {
    log.warn("{}: {}: {}", name_, key, outcome.error().text());
    queue_.addRateLimited(key);
  }
  queue_.done(key);
}

}  // namespace mangrove::manager
