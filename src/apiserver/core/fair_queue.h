#pragma once
// Requests that wait for the one thread that decides. Whose turn it is: of all users with a request
// waiting, the one who has had the least of the thread's time lately; each user's own requests keep
// their order. So a user who sends a thousand requests makes his own wait, and another's request
// waits for little more than the one that is under way.
//
//   queue.push("alice", request);
//   while (auto turn = queue.pop()) { run(turn->item); queue.charge(turn->user, spent); }
//
// A newcomer starts where the last one served stands, so nobody saves up time by being away. Pure;
// one thread.

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/number/units.h"

namespace mangrove::apiserver {

template <class T>
class FairQueue {
 public:
  struct Turn {
    std::string user;
    T item;
  };

  void push(std::string_view user, T item) {
    auto at = users_.find(user);
    if (at == users_.end()) at = users_.emplace(user, User{}).first;
    User& one = at->second;
    if (one.waiting.empty()) one.used = std::max(one.used, floor_);
    one.waiting.push_back(std::move(item));
    ++size_;
  }

  std::optional<Turn> pop() {
    auto next = users_.end();
    for (auto at = users_.begin(); at != users_.end(); ++at)
      if (!at->second.waiting.empty() &&
          (next == users_.end() || at->second.used < next->second.used))
        next = at;
    if (next == users_.end()) return std::nullopt;
    floor_ = next->second.used;
    Turn turn{next->first, std::move(next->second.waiting.front())};
    next->second.waiting.pop_front();
    --size_;
    return turn;
  }

  // What the request just popped has cost.
  void charge(const std::string& user, Duration spent) {
    if (auto at = users_.find(user); at != users_.end()) at->second.used += spent;
    // Who has nothing waiting and no more than his share is nobody to remember; nor is anybody when
    // nobody waits.
    std::erase_if(users_, [this](const auto& entry) {
      return entry.second.waiting.empty() && (size_ == 0 || entry.second.used <= floor_);
    });
  }

  size_t size() const { return size_; }
  size_t users() const { return users_.size(); }

 private:
  struct User {
    Duration used = Duration::zero();
    std::deque<T> waiting;
  };
  std::map<std::string, User, std::less<>> users_;
  Duration floor_ = Duration::zero();
  size_t size_ = 0;
};

// Places for requests under way. When all are taken, who has fewer than an equal share may still
// enter: one user's flood must not lock others out. So there are never more than twice `places`.
inline bool maySit(size_t places, size_t taken, size_t mine, size_t users) {
  return taken < places || mine < std::max<size_t>(1, places / std::max<size_t>(1, users));
}

}  // namespace mangrove::apiserver
