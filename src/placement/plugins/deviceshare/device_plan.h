#pragma once
// What a class of pods asks of devices, compiled once. Pure functions, any thread.

#include <optional>
#include <string>

#include "placement/device/wish.h"
#include "placement/framework/plan.h"

namespace mangrove::placement {

struct DevicePlan final : PlanData {
  bool asks = false;  // for any device at all
  DeviceWish wish;
  // Asks by a name that nobody but this scheduler hands out. What a vendor's device plugin sells
  // under its own name may as well come from a node that reports no cards.
  bool isOurs = false;
  Interned isolation;   // the provider that must cut a shared card
  std::string refusal;  // what is wrong with the request or its annotations
  std::optional<api::DeviceAllocations> designated;  // exactly these, or nothing (SchedulingHint)
};

DevicePlan compileDevices(const PodClass& cls, const ResourceIds& ids);

}  // namespace mangrove::placement
