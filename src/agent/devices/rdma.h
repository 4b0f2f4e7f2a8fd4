#pragma once
// RDMA devices by sysfs: network functions on the PCI bus that have an InfiniBand device and are no
// virtual functions of another.
//
//   std::vector<api::DeviceInfo> devices = readRdmaDevices(machine.root(), machine.mounts());
//
// Any thread. What cannot be read is no device.

#include <optional>
#include <string_view>
#include <vector>

#include "agent/devices/inventory.h"
#include "kernel/hierarchies.h"
#include "kernel/sys_root.h"

namespace mangrove::agent {

// "mlx5_1" → 1; nullopt for names of other makers ("hfi1_0").
std::optional<int32_t> rdmaMinorOf(std::string_view ibDevice);
// "4: ACTIVE"
bool isActivePort(std::string_view state);

Inventory rdmaInventory(const kernel::SysRoot& root, const kernel::Mounts& mounts);

}  // namespace mangrove::agent
