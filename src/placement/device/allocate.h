#pragma once
// Which devices of one node a pod gets.
//
//   auto got = allocateDevices(node, wish, {});
//   if (!got) … got.error().reason              // "Insufficient rdma devices"
//   else      … annotationOf(*got)              // for device-allocated
//
// GPUs come from the first of these that has an answer: a partition of the box, the narrowest
// topology scope, any cards with room. Types that the pod wants jointly follow the first of them to
// its switches.
//
// Pure functions, any thread. The result points into the NodeDevices given.

#include "placement/device/pick.h"

namespace mangrove::placement {

// Fixed shares of a card that a vendor's driver can cut: by vendor-model, then by name.
struct GpuTemplates {
  std::vector<Interned> matched;  // a request for one of these must be a template
  std::map<std::string, std::map<std::string, Amounts>> byModel;
};

struct AllocationTerms {
  std::optional<std::vector<int>> numaNodes;  // nothing elsewhere; cards without NUMA node excepted
  CardOrder order = CardOrder::kByMinor;
  const CardWeights* weights = nullptr;  // null: evenCardWeights()
  const GpuTemplates* templates = nullptr;
};

// So many cards, with this of each.
struct DeviceNeed {
  int64_t count = 1;
  Amounts each;
};
// How much of one type the pod needs, where that depends on the cards there are.
tl::expected<DeviceNeed, DeviceShortage> deviceNeed(const DeviceWish& wish, const std::string& type,
                                                    const Cards& cards);

using DevicePicksByType = std::map<std::string, DevicePicks, std::less<>>;  // each by minor
using AllocatedDevices = tl::expected<DevicePicksByType, DeviceShortage>;

AllocatedDevices allocateDevices(const NodeDevices& node, const DeviceWish& wish,
                                 const AllocationTerms& terms);

api::DeviceAllocations annotationOf(const DevicePicksByType& picks);

}  // namespace mangrove::placement
