#pragma once
// A token bucket as a value: `perSecond` tokens flow in, at most `burst` are kept, each action
// costs one. It holds no clock; the caller says what time it is, so tests and the simulator use the
// same code. Not thread-safe; the owner serialises.
//
//   TokenBucket bucket(20, 30);
//   Duration wait = bucket.reserve(clock.mono());   // zero: go now; otherwise go after `wait`

#include "base/number/units.h"

namespace mangrove::client {

class TokenBucket {
 public:
  // perSecond <= 0 means unlimited.
  TokenBucket(double perSecond, double burst)
      : perSecond_(perSecond), burst_(burst < 1 ? 1 : burst), tokens_(burst_) {}

  bool unlimited() const { return perSecond_ <= 0; }
  // Takes a token if there is one.
  bool tryTake(MonoTime now);
  // Takes a token even if it is still to come, and says how long the caller has to wait for it.
  Duration reserve(MonoTime now);
  // How long until tryTake would succeed; zero when it would now.
  Duration untilNext(MonoTime now);
  // Tokens at hand; negative when reservations run ahead.
  double tokens(MonoTime now);

 private:
  void refill(MonoTime now);
  Duration timeFor(double tokens) const;

  double perSecond_;
  double burst_;
  double tokens_;
  MonoTime filledAt_{};
  bool started_ = false;
};

}  // namespace mangrove::client
