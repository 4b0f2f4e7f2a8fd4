#pragma once
// Resource names as small numbers, so that amounts live in columns instead of maps.
//
//   ResourceIds ids;
//   ids.of(Interned("nvidia.com/gpu"))      // 3, the first name after the three fixed ones
//   amountIn(kCpuId, quantity)              // milli-cores; every other resource in whole units
//
// Owner thread only.

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/pod/resource_list.h"
#include "base/number/quantity.h"
#include "base/text/interned.h"

namespace mangrove::placement {

using ResourceId = uint16_t;
inline constexpr ResourceId kCpuId = 0;
inline constexpr ResourceId kMemoryId = 1;
inline constexpr ResourceId kStorageId = 2;  // ephemeral-storage

struct Request {
  ResourceId id;
  int64_t amount;
  bool operator==(const Request&) const = default;
};

class ResourceIds {
 public:
  ResourceIds();
  ResourceId of(Interned name);  // a new name gets the next number
  Interned name(ResourceId id) const { return names_[id]; }
  size_t size() const { return names_.size(); }

 private:
  std::vector<Interned> names_;
  std::unordered_map<Interned, ResourceId> ids_;
};

int64_t amountIn(ResourceId id, const Quantity& amount);
// What schedulers count: cpu, memory, ephemeral-storage, huge pages and every name with a domain.
// "pods" is counted apart.
bool isCounted(std::string_view resource);
// A name outside of Kubernetes' own domains; only these can be ignored by configuration.
bool isExtended(std::string_view resource);

// Counted amounts above zero, in the order of their names.
std::vector<Request> countedRequests(const api::ResourceList& list, ResourceIds& ids);

}  // namespace mangrove::placement
