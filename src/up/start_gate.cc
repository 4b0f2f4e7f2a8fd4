#include "up/start_gate.h"

#include <memory>
#include <optional>
#include <utility>

namespace mangrove::up {

void StartGate::lend(Mailbox& owner, SetUp setUp) {
  std::lock_guard lock(mutex_);
  owner_ = &owner;
  setUp_ = std::move(setUp);
}

void StartGate::takeBack() {
  std::lock_guard lock(mutex_);
  owner_ = nullptr;
  setUp_ = nullptr;
  changed_.notify_all();
}

// What was posted may run after we gave up waiting, even after the agent took its half back: it
// finds that out by itself.
StartGate::Answer StartGate::ask(const runtime::StartingContainer& container, Duration patience) {
  auto said = std::make_shared<std::optional<bool>>();
  std::unique_lock lock(mutex_);
  if (owner_ == nullptr) return Answer::kNone;
  owner_->post([this, container, said] {
    std::unique_lock inner(mutex_);
    const SetUp setUp = setUp_;
    inner.unlock();
    const bool done = setUp && setUp(container);
    inner.lock();
    *said = done;
    changed_.notify_all();
  });
  changed_.wait_for(lock, patience, [&] { return said->has_value() || owner_ == nullptr; });
  if (!said->has_value()) return Answer::kNone;
  return **said ? Answer::kDone : Answer::kNotYet;
}

bool StartGate::before(const runtime::StartingContainer& container) {
  for (Duration left = kPatience; left > Duration::zero(); left -= kAgain) {
    const Answer answer = ask(container, left);
    if (answer != Answer::kNotYet) return answer == Answer::kDone;
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kAgain, [&] { return owner_ == nullptr; });
  }
  return false;
}

}  // namespace mangrove::up
