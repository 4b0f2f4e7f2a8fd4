#pragma once
// Between the sockets and the deciding thread: who has sent what waits here for its turn, fairly
// between users (core/fair_queue.h), and has a seat while it is under way.
//
//   if (!seats.take(user)) return tooMany();
//   queue.add(user, [=] { server.handle(call, to); });
//   owner.post([=] { queue.serveOne(); });    // one message for each that was added

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/core/fair_queue.h"
#include "base/clock.h"
#include "base/fn.h"

namespace mangrove::apiserver {

// Any thread.
class Seats {
 public:
  explicit Seats(size_t places) : places_(places) {}
  bool take(std::string_view user);
  // For those who are always let in; counts all the same.
  void force(std::string_view user);
  void giveBack(std::string_view user);

 private:
  const size_t places_;
  std::mutex mutex_;
  size_t taken_ = 0;
  std::map<std::string, size_t, std::less<>> users_;
};

// Owner thread.
class FrontQueue {
 public:
  explicit FrontQueue(Clock& clock) : clock_(clock) {}
  void add(std::string_view user, Fn run) { queue_.push(user, std::move(run)); }
  // Whoever's turn it is.
  void serveOne();

 private:
  Clock& clock_;
  FairQueue<Fn> queue_;
};

}  // namespace mangrove::apiserver
