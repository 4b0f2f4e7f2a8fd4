#pragma once
// Accelerators that a daemon of their vendor describes in files of a directory: each file a JSON
// array of devices. All files are read or none: an unreadable one keeps what was known.
//
//   Result<std::vector<XpuDevice>> found = readXpuFiles(root, "var/run/koordlet/xpu-device-infos");
//   Inventory inventory = xpuInventory(*found);
//
// Any thread.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/devices/inventory.h"
#include "base/result.h"
#include "kernel/sys_root.h"

namespace mangrove::agent {

struct XpuLink {
  std::vector<int64_t> peers;  // minors
  std::string type;            // NVLink, HCCS, …
  bool operator==(const XpuLink&) const = default;
};

struct XpuDevice {
  std::string vendor, model, uuid;
  int32_t minor = 0;
  api::ResourceList resources;  // with full names, and the memory ratio
  bool hasTopology = false;
  api::DeviceTopology topology;
  std::vector<XpuLink> links;
  bool mustHonorPartition = false;
  bool healthy = true;
  bool hasStatus = false;
  std::string errCode, errMessage;
};

Result<std::vector<XpuDevice>> parseXpuFile(std::string_view text);
// No directory: no devices.
Result<std::vector<XpuDevice>> readXpuFiles(const kernel::SysRoot& root, std::string_view dir);

Inventory xpuInventory(const std::vector<XpuDevice>& devices);

}  // namespace mangrove::agent
