#pragma once
// NVIDIA's GPUs by their management library, loaded when it is there: which there are, what runs on
// them, and which errors their driver told of. Without the library there are none; that is a state,
// not an error.
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

#include "agent/devices/gpu_health.h"
#include "agent/devices/inventory.h"
#include "agent/machine.h"

namespace mangrove::agent {

// A process that computes on a GPU.
struct GpuProcess {
  int pid = 0;
  double corePercent = 0;  // 0 while the library has no sample of it
  Bytes memory = {};
};

struct Gpu {
  std::string uuid = {};
  std::string name = {};  // "NVIDIA A100-SXM4-80GB"
  int32_t minor = 0;
  Bytes memory = {};
  std::string busId = {};   // lower case, as in sysfs
  std::string driver = {};  // version
  int32_t numaNode = 0;
  std::string pcieId = {};
  // Use of the whole card by the card's own account; nullopt: the library does not say.
  std::optional<double> corePercent = {};
  std::optional<Bytes> memoryUsed = {};
  std::optional<double> celsius = {};
  // nullopt: the library cannot list them.
  std::optional<std::vector<GpuProcess>> processes = {};
  GpuVerdict health = {};
};

// What its processes use together; by the card's own account where they cannot be listed.
std::optional<double> coreUse(const Gpu& gpu);
std::optional<Bytes> memoryUse(const Gpu& gpu);

// "NVIDIA A100-SXM4-80GB" → "A100-SXM4-80GB", blanks as "-".
std::string gpuModelOf(std::string_view name);
// "00000000:5E:00.0" → "0000:5e:00.0", as sysfs writes it.
std::string busIdOf(std::string_view nvmlBusId);

// Which library to load instead of the usual name; before the first reading, or to load another.
void useGpuLibrary(const std::string& path);
// Whether there is such a library and it starts.
bool hasGpuLibrary();
// `now` is for health: a card that had an error is asked again after a while.
std::vector<Gpu> readGpus(const Machine& machine, MonoTime now);
// Labels say vendor, driver and model; no model when there are several.
Inventory gpuInventory(const std::vector<Gpu>& gpus);

// The name of a GPU in the history, and back; a pod's use of it has the pod's in front.
std::string gpuSubject(int32_t minor, std::string_view uuid);
std::string podGpuSubject(std::string_view pod, int32_t minor, std::string_view uuid);
// What subjects of this pod begin with.
std::string podGpuPrefix(std::string_view pod);
// nullopt: the whole card's.
std::optional<std::string_view> podOfSubject(std::string_view subject);
struct GpuName {
  int32_t minor = 0;
  std::string uuid;
};
GpuName gpuOfSubject(std::string_view subject);

// gpu-core, gpu-memory and gpu-memory-ratio in use, each cut to a whole number; of the NodeMetric.
// The card's temperature stands beside them where it is known.
struct GpuReading {
  double corePercent = 0, bytes = 0, totalBytes = 0;
  std::optional<double> celsius = {};
};
api::DeviceInfo gpuUsage(const std::string& uuid, int32_t minor, const GpuReading& read);

}  // namespace mangrove::agent
