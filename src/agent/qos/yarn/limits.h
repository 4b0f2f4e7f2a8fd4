#pragma once
// How large the pod of a NodeManager may be: what YARN was told that it has there
// (api/annotations/yarn.h), and what the NodeManager asked for itself. Its containers run inside the
// pod, so this bounds them all together.
//
//   NodeManagerLimits limits = limitsFor({28, 81920}, {500, 1 GiB}, usage);
//
// Memory never goes below what is used: when the capacity falls YARN ends containers within half a
// minute, and the limit follows them down instead of killing at random. Pure functions, any thread.

#include <cstdint>
#include <optional>

#include "api/annotations/yarn.h"
#include "base/number/units.h"

namespace mangrove::agent {

struct NodeManagerLimits {
  int64_t quotaUs = 0;  // of a period of 100 ms
  Bytes memory;
  bool operator==(const NodeManagerLimits&) const = default;
};
struct NodeManagerNeeds {
  MilliCpu cpu;
  Bytes memory;
};
NodeManagerLimits limitsFor(const api::YarnCapacity& capacity, const NodeManagerNeeds& own,
                            std::optional<Bytes> used);

}  // namespace mangrove::agent
