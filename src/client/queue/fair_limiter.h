#pragma once
// Client-side rate limit that is fair between kinds of work: requests of one flow wait in line,
// flows take turns. A thousand events cannot delay the renewal of a lease by more than one request.
//
//   FairLimiter limiter(clock, 20, 30);
//   limiter.admit("leases", deadline, [=](bool inTime) { inTime ? send() : giveUp(); });
//
// Any thread. `go` is called exactly once: at once in the calling thread when a token is there and
// nobody waits, otherwise on the clock's thread; with false when the deadline is reached first or
// the limiter dies.

#include <memory>
#include <string_view>

#include "base/clock.h"
#include "base/fn.h"

namespace mangrove::client {

class FairLimiter {
 public:
  // perSecond <= 0: unlimited.
  FairLimiter(Clock& clock, double perSecond, double burst);
  ~FairLimiter();
  FairLimiter(const FairLimiter&) = delete;
  FairLimiter& operator=(const FairLimiter&) = delete;

  using Go = UniqueFn<void(bool inTime)>;
  void admit(std::string_view flow, MonoTime deadline, Go go);
  size_t waiting() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace mangrove::client
