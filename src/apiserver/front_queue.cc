#include "apiserver/front_queue.h"

namespace mangrove::apiserver {

bool Seats::take(std::string_view user) {
  std::lock_guard lock(mutex_);
  auto at = users_.find(user);
  const size_t mine = at == users_.end() ? 0 : at->second;
  if (!maySit(places_, taken_, mine, users_.size() + (mine == 0 ? 1 : 0))) return false;
  ++taken_;
  ++(at == users_.end() ? users_[std::string(user)] : at->second);
  return true;
}

void Seats::force(std::string_view user) {
  std::lock_guard lock(mutex_);
  ++taken_;
  ++users_[std::string(user)];
}

void Seats::giveBack(std::string_view user) {
  std::lock_guard lock(mutex_);
  auto at = users_.find(user);
  if (at == users_.end()) return;
  --taken_;
  if (--at->second == 0) users_.erase(at);
}

void FrontQueue::serveOne() {
  auto turn = queue_.pop();
  if (!turn) return;
  const MonoTime from = clock_.mono();
  turn->item();
  queue_.charge(turn->user, clock_.mono() - from);
}

}  // namespace mangrove::apiserver
