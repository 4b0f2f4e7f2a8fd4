#include "agent/devices/nvml.h"

#include <algorithm>
#include <cctype>
#include <memory>

#include <dlfcn.h>
#include <fmt/core.h>

#include "api/names.h"
#include "base/strings.h"
#include "kernel/read_text.h"

namespace mangrove::agent {
namespace {

constexpr int kSuccess = 0;
constexpr const char* kLibrary = "libnvidia-ml.so.1";

// The library's own structures, as far as we use them.
struct NvmlMemory {
  unsigned long long total = 0, free = 0, used = 0;
};
struct NvmlPci {
  char legacyBusId[16] = {};
  unsigned domain = 0, bus = 0, device = 0, deviceId = 0, subsystemId = 0;
  char busId[32] = {};
};
struct NvmlUtilization {
  unsigned gpu = 0, memory = 0;
};
using NvmlHandle = void*;

// One loaded library; calls that it lacks say "not supported".
class Nvml {
 public:
  static const Nvml* get() {
    static const std::unique_ptr<const Nvml> kLoaded = load();
    return kLoaded.get();
  }

  std::vector<Gpu> gpus() const {
    std::vector<Gpu> out;
    unsigned count = 0;
    if (call("nvmlDeviceGetCount_v2", &count) != kSuccess) return out;
    for (unsigned i = 0; i < count; ++i) {
      NvmlHandle handle = nullptr;
      if (call("nvmlDeviceGetHandleByIndex_v2", i, &handle) == kSuccess)
        out.push_back(describe(handle));
    }
    return out;
  }

 private:
  explicit Nvml(void* library) : library_(library) {}

  static std::unique_ptr<const Nvml> load() {
    void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return nullptr;
    std::unique_ptr<const Nvml> nvml(new Nvml(library));
    return nvml->call("nvmlInit_v2") == kSuccess ? std::move(nvml) : nullptr;
  }

  template <class... Args>
  int call(const char* name, Args... args) const {
    constexpr int kNoSuchFunction = 13;
    const auto function = reinterpret_cast<int (*)(Args...)>(::dlsym(library_, name));
    return function != nullptr ? function(args...) : kNoSuchFunction;
  }
  std::string text(const char* name, NvmlHandle handle) const {
    char buffer[96] = {};
    return call(name, handle, buffer, static_cast<unsigned>(sizeof buffer - 1)) == kSuccess ? buffer
                                                                                            : "";
  }

  Gpu describe(NvmlHandle handle) const {
    Gpu gpu;
    gpu.uuid = text("nvmlDeviceGetUUID", handle);
    gpu.name = text("nvmlDeviceGetName", handle);
    char version[81] = {};
    if (call("nvmlSystemGetDriverVersion", version, 80u) == kSuccess) gpu.driver = version;
    unsigned minor = 0;
    if (call("nvmlDeviceGetMinorNumber", handle, &minor) == kSuccess)
      gpu.minor = static_cast<int32_t>(minor);
    NvmlPci pci;
    if (call("nvmlDeviceGetPciInfo_v3", handle, &pci) == kSuccess) gpu.busId = busIdOf(pci.busId);
    NvmlMemory memory;
    // A card that fell off the bus answers nothing about its memory.
    gpu.healthy = call("nvmlDeviceGetMemoryInfo", handle, &memory) == kSuccess;
    if (gpu.healthy) {
      gpu.memory = Bytes{static_cast<int64_t>(memory.total)};
      gpu.memoryUsed = Bytes{static_cast<int64_t>(memory.used)};
    }
    NvmlUtilization used;
    if (call("nvmlDeviceGetUtilizationRates", handle, &used) == kSuccess)
      gpu.corePercent = used.gpu;
    return gpu;
  }

  void* library_;
};

}  // namespace

std::string gpuModelOf(std::string_view name) {
  constexpr std::string_view kMaker = "NVIDIA ";
  if (name.starts_with(kMaker)) name.remove_prefix(kMaker.size());
  std::string model(name);
  std::replace(model.begin(), model.end(), ' ', '-');
  return model;
}

std::string busIdOf(std::string_view nvmlBusId) {
  std::string id(nvmlBusId);
  std::transform(id.begin(), id.end(), id.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  // The domain has eight digits there and four here.
  const size_t colon = id.find(':');
  return colon == 8 ? id.substr(4) : id;
}

std::vector<Gpu> readGpus(const Machine& machine) {
  const Nvml* nvml = Nvml::get();
  if (nvml == nullptr) return {};
  std::vector<Gpu> gpus = nvml->gpus();
  for (Gpu& gpu : gpus) {
    const std::string dir = machine.mounts().sysFile("bus/pci/devices/" + gpu.busId);
    gpu.numaNode = numaNodeOf(kernel::readWord(machine.root(), dir + "/numa_node").value_or(""));
    gpu.pcieId = pcieIdOf(machine.root().readLink(dir).value_or(""));
  }
  return gpus;
}

Inventory gpuInventory(const std::vector<Gpu>& gpus) {
  Inventory out;
  if (gpus.empty()) return out;
  for (const Gpu& gpu : gpus) {
    api::DeviceInfo info;
    info.type = Interned(kTypeGpu);
    info.id = gpu.uuid;
    info.minor = gpu.minor;
    info.health = gpu.healthy;
    info.resources.set(api::resource::kGpuCore, Quantity::of(100));
    info.resources.set(api::resource::kGpuMemory, Quantity::of(gpu.memory));
    info.resources.set(api::resource::kGpuMemoryRatio, Quantity::of(100));
    info.topology = api::DeviceTopology{-1, gpu.numaNode, gpu.pcieId, gpu.busId};
    if (!gpu.healthy)
      info.conditions.push_back(
          healthCondition(false, "DeviceDoesNotAnswer", "the library cannot reach the device"));
    out.devices.push_back(std::move(info));
  }
  const std::string model = gpuModelOf(gpus.front().name);
  const bool oneModel = std::all_of(gpus.begin(), gpus.end(),
                                    [&](const Gpu& gpu) { return gpuModelOf(gpu.name) == model; });
  out.labels[std::string(api::label::kGpuVendor)] = "nvidia";
  if (oneModel) out.labels[std::string(api::label::kGpuModel)] = model;
  out.labels[std::string(api::label::kGpuDriverVersion)] = gpus.front().driver;
  return merged(std::move(out), {});
}

std::string gpuSubject(int32_t minor, std::string_view uuid) {
  return fmt::format("{}/{}", minor, uuid);
}

GpuName gpuOfSubject(std::string_view subject) {
  const Halves halves = cut(subject, '/');
  return {parseInt<int32_t>(halves.before).value_or(0), std::string(halves.after)};
}

api::DeviceInfo gpuUsage(const std::string& uuid, int32_t minor, double corePercent, double bytes,
                         double totalBytes) {
  api::DeviceInfo info;
  info.type = Interned(kTypeGpu);
  info.id = uuid;
  info.minor = minor;
  const auto whole = [](double value) { return value > 0 ? static_cast<int64_t>(value) : 0; };
  info.resources.set(api::resource::kGpuCore, Quantity::of(whole(corePercent)));
  info.resources.set(api::resource::kGpuMemory, Quantity::of(Bytes{whole(bytes)}));
  info.resources.set(api::resource::kGpuMemoryRatio,
                     Quantity::of(totalBytes > 0 ? whole(100 * bytes / totalBytes) : int64_t{0}));
  return info;
}

}  // namespace mangrove::agent
