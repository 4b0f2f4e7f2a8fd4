#include "placement/cluster/resource_ids.h"

#include "api/wire/names.h"

namespace mangrove::placement {

ResourceIds::ResourceIds() {
  for (auto name :
       {api::resource::kCpu, api::resource::kMemory, std::string_view("ephemeral-storage")})
    of(Interned(name));
}

ResourceId ResourceIds::of(Interned name) {
  const auto [at, isNew] = ids_.try_emplace(name, static_cast<ResourceId>(names_.size()));
  if (isNew) names_.push_back(name);
  return at->second;
}

int64_t amountIn(ResourceId id, const Quantity& amount) {
  return id == kCpuId ? amount.milliValue() : amount.value();
}

bool isCounted(std::string_view resource) {
  return resource == "cpu" || resource == "memory" || resource == "ephemeral-storage" ||
         resource.starts_with("hugepages-") || resource.find('/') != std::string_view::npos;
}

bool isExtended(std::string_view resource) {
  return resource.find('/') != std::string_view::npos &&
         resource.find("kubernetes.io/") == std::string_view::npos &&
         !resource.starts_with("requests.");
}

std::vector<Request> countedRequests(const api::ResourceList& list, ResourceIds& ids) {
  std::vector<Request> out;
  out.reserve(list.size());
  for (const auto& entry : list) {
    if (!isCounted(entry.name.view())) continue;
    const ResourceId id = ids.of(entry.name);
    if (const int64_t amount = amountIn(id, entry.amount); amount > 0) out.push_back({id, amount});
  }
  return out;
}

}  // namespace mangrove::placement
