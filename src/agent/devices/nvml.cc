#include "agent/devices/nvml.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <utility>

#include <fmt/core.h>

#include "agent/devices/nvml_library.h"
#include "api/wire/measured_names.h"
#include "api/wire/names.h"
#include "base/text/strings.h"
#include "kernel/read_text.h"

namespace mangrove::agent {
namespace {

constexpr std::string_view kPodPrefix = "pod/";

// The library of this process and what it said so far.
struct Driver {
  std::string path = "libnvidia-ml.so.1";
  bool tried = false;
  std::unique_ptr<NvmlLibrary> library;
  GpuHealth health;
  std::map<std::string, bool> listened;  // by uuid

  NvmlLibrary* get() {
    if (!std::exchange(tried, true)) library = NvmlLibrary::load(path);
    return library.get();
  }
};

Driver& driver() {
  static Driver instance;
  return instance;
}

}  // namespace

void useGpuLibrary(const std::string& path) {
  driver() = {};
  driver().path = path;
}

bool hasGpuLibrary() {
  return driver().get() != nullptr;
}

std::optional<double> coreUse(const Gpu& gpu) {
  if (!gpu.processes) return gpu.corePercent;
  double sum = 0;
  for (const GpuProcess& process : *gpu.processes) sum += process.corePercent;
  return sum;
}

std::optional<Bytes> memoryUse(const Gpu& gpu) {
  if (!gpu.processes) return gpu.memoryUsed;
  Bytes sum{0};
  for (const GpuProcess& process : *gpu.processes) sum += process.memory;
  return sum;
}

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

std::vector<Gpu> readGpus(const Machine& machine, MonoTime now) {
  Driver& here = driver();
  NvmlLibrary* const nvml = here.get();
  if (nvml == nullptr) return {};
  nvml->errors([&](const std::string& uuid, uint64_t xid) { here.health.error(uuid, xid, now); });
  std::vector<Gpu> gpus;
  for (NvmlHandle handle : nvml->handles()) {
    bool answers = false;
    Gpu gpu = nvml->describe(handle, answers);
    if (here.listened.try_emplace(gpu.uuid, true).second && !nvml->listen(handle, gpu.uuid))
      here.health.unheard(gpu.uuid);
    const std::string dir = machine.mounts().sysFile("bus/pci/devices/" + gpu.busId);
    gpu.numaNode = numaNodeOf(kernel::readWord(machine.root(), dir + "/numa_node").value_or(""));
    gpu.pcieId = pcieIdOf(machine.root().readLink(dir).value_or(""));
    gpu.health = here.health.verdict(gpu.uuid, answers, now);
    gpus.push_back(std::move(gpu));
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
    info.health = gpu.health.healthy;
    info.resources.set(api::resource::kGpuCore, Quantity::of(100));
    info.resources.set(api::resource::kGpuMemory, Quantity::of(gpu.memory));
    info.resources.set(api::resource::kGpuMemoryRatio, Quantity::of(100));
    info.topology = api::DeviceTopology{-1, gpu.numaNode, gpu.pcieId, gpu.busId};
    if (!gpu.health.healthy)
      info.conditions.push_back(healthCondition(false, gpu.health.reason, gpu.health.message));
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

std::string podGpuPrefix(std::string_view pod) {
  return fmt::format("{}{}/", kPodPrefix, pod);
}

std::string podGpuSubject(std::string_view pod, int32_t minor, std::string_view uuid) {
  return podGpuPrefix(pod) + gpuSubject(minor, uuid);
}

std::optional<std::string_view> podOfSubject(std::string_view subject) {
  if (!subject.starts_with(kPodPrefix)) return std::nullopt;
  return cut(subject.substr(kPodPrefix.size()), '/').before;
}

GpuName gpuOfSubject(std::string_view subject) {
  const Halves halves = cut(subject, '/');
  return {parseInt<int32_t>(halves.before).value_or(0), std::string(halves.after)};
}

api::DeviceInfo gpuUsage(const std::string& uuid, int32_t minor, const GpuReading& read) {
  api::DeviceInfo info;
  info.type = Interned(kTypeGpu);
  info.id = uuid;
  info.minor = minor;
  const auto whole = [](double value) { return value > 0 ? static_cast<int64_t>(value) : 0; };
  info.resources.set(api::resource::kGpuCore, Quantity::of(whole(read.corePercent)));
  info.resources.set(api::resource::kGpuMemory, Quantity::of(Bytes{whole(read.bytes)}));
  const double ratio = read.totalBytes > 0 ? 100 * read.bytes / read.totalBytes : 0;
  info.resources.set(api::resource::kGpuMemoryRatio, Quantity::of(whole(ratio)));
  if (read.celsius)
    info.resources.set(api::resource::kGpuCelsius, Quantity::of(whole(*read.celsius)));
  return info;
}

}  // namespace mangrove::agent
