#pragma once
// The position of a change in the store's one history. Strictly increasing over all resources,
// never given twice, never going back over restarts; numbers may be skipped. Kubernetes shows it as
// metadata.resourceVersion.

#include <compare>
#include <cstdint>

namespace mangrove::store {

struct Revision {
  uint64_t v = 0;  // 0: none

  constexpr auto operator<=>(const Revision&) const = default;
  constexpr explicit operator bool() const { return v != 0; }
  constexpr Revision operator+(uint64_t steps) const { return {v + steps}; }
};

// What an empty store shows. Not 0, because clients read "0" as "any".
inline constexpr Revision kEmptyStore{1};

}  // namespace mangrove::store
