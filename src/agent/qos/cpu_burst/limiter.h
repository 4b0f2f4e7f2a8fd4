#pragma once
// Tokens that a container earns while it uses little and spends while it exceeds its limit, so that
// no container lives above its limit for ever. A value, one per container.
//
//   TokenLimiter limiter(period, percent, initialTokens);
//   bool allowed = limiter.use(dt, usagePercent);

#include <cstdint>
#include <optional>

#include "base/number/units.h"

namespace mangrove::agent {

class TokenLimiter {
 public:
  // Capacity: period in seconds times what exceeds 100 percent.
  TokenLimiter(int64_t periodSeconds, int64_t burstPercent, int64_t initialTokens);
  // What happened since the last call; whole seconds count, the rest is dropped. True: the quota
  // may (still) exceed the limit.
  bool use(Duration since, int64_t usagePercent);

  int64_t tokens() const { return tokens_; }
  int64_t capacity() const { return capacity_; }
  bool fits(int64_t periodSeconds, int64_t burstPercent) const {
    return period_ == periodSeconds && percent_ == burstPercent;
  }

 private:
  int64_t period_, percent_;
  int64_t capacity_;
  int64_t tokens_;
};

// Without a period everything is allowed; without a percentage above 100 nothing is.
enum class LimiterRule : uint8_t { kAlways, kNever, kTokens };
LimiterRule limiterRule(std::optional<int64_t> periodSeconds, std::optional<int64_t> burstPercent);

}  // namespace mangrove::agent
