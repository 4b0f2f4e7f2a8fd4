#pragma once
// NVIDIA's GPUs by their management library, loaded when it is there: which there are, and what
// runs on them. Without the library there are none; that is a state, not an error.
//
//   for (const Gpu& gpu : readGpus(machine)) …
//   Inventory inventory = gpuInventory(gpus);
//
// Owner thread.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/devices/inventory.h"
#include "agent/machine.h"

namespace mangrove::agent {

struct Gpu {
  std::string uuid = {};
  std::string name = {};  // "NVIDIA A100-SXM4-80GB"
  int32_t minor = 0;
  Bytes memory = {};
  std::string busId = {};   // lower case, as in sysfs
  std::string driver = {};  // version
  int32_t numaNode = 0;
  std::string pcieId = {};
  // Use of all processes together; nullopt: the library does not say.
  std::optional<double> corePercent = {};
  std::optional<Bytes> memoryUsed = {};
  bool healthy = true;
};

// "NVIDIA A100-SXM4-80GB" → "A100-SXM4-80GB", blanks as "-".
std::string gpuModelOf(std::string_view name);
// "00000000:5E:00.0" → "0000:5e:00.0", as sysfs writes it.
std::string busIdOf(std::string_view nvmlBusId);

std::vector<Gpu> readGpus(const Machine& machine);
// Labels say vendor, driver and model; no model when there are several.
Inventory gpuInventory(const std::vector<Gpu>& gpus);

// The name of a GPU in the history, and back.
std::string gpuSubject(int32_t minor, std::string_view uuid);
struct GpuName {
  int32_t minor = 0;
  std::string uuid;
};
GpuName gpuOfSubject(std::string_view subject);

// gpu-core, gpu-memory and gpu-memory-ratio in use, each cut to a whole number; of the NodeMetric.
api::DeviceInfo gpuUsage(const std::string& uuid, int32_t minor, double corePercent, double bytes,
                         double totalBytes);

}  // namespace mangrove::agent
