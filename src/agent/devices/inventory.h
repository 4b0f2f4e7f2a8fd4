#pragma once
// The devices of a node as the Device object lists them, whoever found them: accelerators named in
// files (xpu.h), NVIDIA's by their library (nvml.h), RDMA by sysfs (rdma.h).
//
//   Inventory all = merged(xpu, rdma);
//   all.devices                                     // sorted by type and minor
//
// Values; pure functions.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/koordinator/device.h"

namespace mangrove::agent {

struct Inventory {
  std::vector<api::DeviceInfo> devices;
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
  bool operator==(const Inventory&) const = default;
};

// Everything of both; sorted by type and minor, conditions by type.
Inventory merged(Inventory a, const Inventory& b);

inline constexpr std::string_view kTypeGpu = "gpu", kTypeRdma = "rdma";
inline constexpr std::string_view kConditionHealthy = "Healthy";

// A condition that says how the device is; without a time, which the reporter gives.
api::Condition healthCondition(bool healthy, std::string_view reason, std::string_view message);

// "…/pci0000:5d/0000:5d:02.0/0000:5e:00.0" → "pci0000:5d"; "" when no such part is there.
std::string pcieIdOf(std::string_view sysfsPath);
// The text of numa_node: -1 (the only node) is 0, and so is nonsense.
int numaNodeOf(std::string_view text);

}  // namespace mangrove::agent
