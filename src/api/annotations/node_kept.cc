#include "api/annotations/node_kept.h"

#include <algorithm>

#include "api/annotations/node.h"
#include "api/wire/names.h"

namespace mangrove::api {

NodeKept keptOf(const Node& node) {
  NodeKept out;
  // After amplification allocatable is larger than what the kubelet offered.
  const auto raw = parseRawAllocatable(node.meta.annotations);
  const auto kept = [&](std::string_view name) {
    const bool isRaw = raw && *raw && (*raw)->has(name);
    const Quantity offered = isRaw ? (*raw)->amount(name) : node.status.allocatable.amount(name);
    return std::max(node.status.capacity.amount(name) - offered, Quantity());
  };
  out.kubeletCpu = kept(resource::kCpu);
  out.kubeletMemory = kept(resource::kMemory);
  const auto annotated = parseNodeReservation(node.meta.annotations);
  if (annotated && !*annotated) return out;
  auto amounts = annotated ? reservedAmounts(**annotated) : pass(annotated.error());
  if (amounts)
    out.annotated = *std::move(amounts);
  else
    out.ignored = amounts.error().text();
  return out;
}

}  // namespace mangrove::api
