#include "agent/qos/cpu_burst/limiter.h"

#include <algorithm>

namespace mangrove::agent {
namespace {

constexpr int64_t kFull = 100;   // percent of the limit
constexpr int64_t kSaving = 60;  // below this, tokens are earned

}  // namespace

TokenLimiter::TokenLimiter(int64_t periodSeconds, int64_t burstPercent, int64_t initialTokens)
    : period_(periodSeconds),
      percent_(burstPercent),
      capacity_(periodSeconds * (burstPercent - kFull)),
      tokens_(initialTokens) {}

bool TokenLimiter::use(Duration since, int64_t usagePercent) {
  const int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(since).count();
  if (usagePercent >= kFull)
    tokens_ -= (usagePercent - kFull) * seconds;
  else if (usagePercent < kSaving)
    tokens_ += (kFull - usagePercent) * seconds;
  tokens_ = std::clamp(tokens_, -capacity_, capacity_);
  return tokens_ > 0;
}

LimiterRule limiterRule(std::optional<int64_t> periodSeconds, std::optional<int64_t> burstPercent) {
  if (periodSeconds.value_or(-1) < 0) return LimiterRule::kAlways;
  return burstPercent.value_or(0) < kFull ? LimiterRule::kNever : LimiterRule::kTokens;
}

}  // namespace mangrove::agent
