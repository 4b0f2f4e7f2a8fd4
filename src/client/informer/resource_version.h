#pragma once
// Resource versions are opaque by contract, except that equal texts mean the same state. To notice
// events that come twice or out of order we need "older"; API servers since Kubernetes 1.0 write
// decimal counters of one store, and the contract of 1.35 says that they may be compared as such.
// So: numbers when both are numbers, otherwise only equality counts and arrival order decides.

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/text/strings.h"

namespace mangrove::client {

inline std::optional<uint64_t> versionNumber(std::string_view version) {
  return parseInt<uint64_t>(version);
}

// True only when `a` is known to be older than `b`.
inline bool surelyOlder(std::string_view a, std::string_view b) {
  auto left = versionNumber(a), right = versionNumber(b);
  return left && right && *left < *right;
}

}  // namespace mangrove::client
