#pragma once
// How large a store may become. Beyond its limit nothing is created and nothing grows, but a delete
// must still be possible, and the last steps of one make an object a little larger (the time of its
// deletion, a condition): existing objects may grow by a few hundred bytes at a time until a reserve
// is spent, too. Pure; any thread.

#include <cstdint>

namespace mangrove::store {

struct Fill {
  int64_t bytes = 0;
  int64_t limit = 0;  // 0: none
};

inline constexpr int64_t kSmallStep = 512;    // a deletion timestamp, its grace period, a condition
inline constexpr int64_t kReserveShare = 16;  // of the limit, for those steps

inline bool mayGrow(const Fill& now, int64_t growth, bool creates) {
  if (now.limit == 0 || growth <= 0 || now.bytes + growth <= now.limit) return true;
  return !creates && growth <= kSmallStep &&
         now.bytes + growth <= now.limit + now.limit / kReserveShare;
}

}  // namespace mangrove::store
