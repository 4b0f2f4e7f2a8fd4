#include "agent/devices/nvml_library.h"

#include <dlfcn.h>

#include "base/os/log.h"

namespace mangrove::agent {
namespace {

const Logger log("agent");

// The library's own numbers and structures, as far as we use them.
constexpr int kSuccess = 0;
constexpr int kNotSupported = 3;
constexpr int kNotFound = 6;
constexpr int kInsufficientSize = 7;
constexpr int kNoSuchFunction = 13;
constexpr int kSensorOfGpu = 0;
constexpr unsigned long long kXidErrors = 0x8;
// Samples are kept for some seconds; the reference asks for all there are.
constexpr unsigned long long kSince = 1024;
// More errors than this at once say nothing new.
constexpr int kMostErrors = 64;

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
struct NvmlProcess {
  unsigned pid = 0;
  unsigned long long usedMemory = 0;
  unsigned gpuInstance = 0, computeInstance = 0;
};
struct NvmlProcessSample {
  unsigned pid = 0;
  unsigned long long timeStamp = 0;
  unsigned sm = 0, memory = 0, encoder = 0, decoder = 0;
};
struct NvmlEvent {
  NvmlHandle device = nullptr;
  unsigned long long type = 0, data = 0;
  unsigned gpuInstance = 0, computeInstance = 0;
};
// "Not available", where a process's memory cannot be told apart.
constexpr unsigned long long kNoValue = ~0ULL;

}  // namespace

template <class... Args>
int NvmlLibrary::call(const char* name, Args... args) const {
  const auto function = reinterpret_cast<int (*)(Args...)>(::dlsym(library_, name));
  return function != nullptr ? function(args...) : kNoSuchFunction;
}

std::unique_ptr<NvmlLibrary> NvmlLibrary::load(const std::string& path) {
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  std::unique_ptr<NvmlLibrary> nvml(new NvmlLibrary(library));
  if (nvml->call("nvmlInit_v2") != kSuccess) return nullptr;
  if (int error = nvml->call("nvmlEventSetCreate", &nvml->events_); error != kSuccess) {
    nvml->events_ = nullptr;
    log.warn("GPUs: no events about errors (NVML error {})", error);
  }
  return nvml;
}

// The library stays loaded: its threads may still run in it.
NvmlLibrary::~NvmlLibrary() {
  if (events_ != nullptr) (void)call("nvmlEventSetFree", events_);
}

std::vector<NvmlHandle> NvmlLibrary::handles() const {
  std::vector<NvmlHandle> out;
  unsigned count = 0;
  if (call("nvmlDeviceGetCount_v2", &count) != kSuccess) return out;
  for (unsigned i = 0; i < count; ++i) {
    NvmlHandle handle = nullptr;
    if (call("nvmlDeviceGetHandleByIndex_v2", i, &handle) == kSuccess) out.push_back(handle);
  }
  return out;
}

std::string NvmlLibrary::text(const char* name, NvmlHandle handle) const {
  char buffer[96] = {};
  const int result = call(name, handle, buffer, static_cast<unsigned>(sizeof buffer - 1));
  return result == kSuccess ? buffer : "";
}

Gpu NvmlLibrary::describe(NvmlHandle handle, bool& answers) const {
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
  answers = call("nvmlDeviceGetMemoryInfo", handle, &memory) == kSuccess;
  if (!answers) return gpu;
  gpu.memory = Bytes{static_cast<int64_t>(memory.total)};
  gpu.memoryUsed = Bytes{static_cast<int64_t>(memory.used)};
  NvmlUtilization used;
  if (call("nvmlDeviceGetUtilizationRates", handle, &used) == kSuccess) gpu.corePercent = used.gpu;
  unsigned celsius = 0;
  if (call("nvmlDeviceGetTemperature", handle, kSensorOfGpu, &celsius) == kSuccess)
    gpu.celsius = celsius;
  gpu.processes = processes(handle);
  return gpu;
}

std::optional<std::vector<GpuProcess>> NvmlLibrary::processes(NvmlHandle handle) const {
  std::vector<NvmlProcess> found(32);
  for (const char* name :
       {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"}) {
    auto count = static_cast<unsigned>(found.size());
    int result = call(name, handle, &count, found.data());
    if (result == kInsufficientSize) {
      found.resize(count + 32);
      count = static_cast<unsigned>(found.size());
      result = call(name, handle, &count, found.data());
    }
    if (result == kNoSuchFunction) continue;
    if (result != kSuccess || count > found.size()) return std::nullopt;
    std::vector<GpuProcess> out;
    for (unsigned i = 0; i < count; ++i)
      out.push_back(
          {static_cast<int>(found[i].pid), 0,
           Bytes{found[i].usedMemory == kNoValue ? 0 : static_cast<int64_t>(found[i].usedMemory)}});
    addUtilization(handle, out);
    return out;
  }
  return std::nullopt;
}

// A process without a sample computes nothing, but its memory is in use all the same.
void NvmlLibrary::addUtilization(NvmlHandle handle, std::vector<GpuProcess>& processes) const {
  constexpr const char* kCall = "nvmlDeviceGetProcessUtilization";
  unsigned count = 0;
  NvmlProcessSample* const none = nullptr;
  const int asked = call(kCall, handle, none, &count, kSince);
  if (asked == kNotFound || asked == kNoSuchFunction || count == 0) return;
  std::vector<NvmlProcessSample> samples(count);
  if (call(kCall, handle, samples.data(), &count, kSince) != kSuccess || count > samples.size())
    return;
  for (GpuProcess& process : processes) {
    unsigned long long newest = 0;
    for (unsigned i = 0; i < count; ++i) {
      if (static_cast<int>(samples[i].pid) != process.pid || samples[i].timeStamp < newest)
        continue;
      newest = samples[i].timeStamp;
      process.corePercent = samples[i].sm;
    }
  }
}

bool NvmlLibrary::listen(NvmlHandle handle, const std::string& uuid) {
  if (events_ == nullptr) return true;  // nobody can, which says nothing about this card
  const int result = call("nvmlDeviceRegisterEvents", handle, kXidErrors, events_);
  if (result != kSuccess && result != kNotSupported)
    log.warn("GPU {}: cannot listen to its errors (NVML error {})", uuid, result);
  return result != kNotSupported;
}

void NvmlLibrary::errors(const std::function<void(const std::string&, uint64_t)>& each) const {
  if (events_ == nullptr) return;
  for (int i = 0; i < kMostErrors; ++i) {
    NvmlEvent event;
    if (call("nvmlEventSetWait_v2", events_, &event, 0u) != kSuccess) return;
    if (event.type != kXidErrors) continue;
    each(event.device != nullptr ? text("nvmlDeviceGetUUID", event.device) : "", event.data);
  }
}

}  // namespace mangrove::agent
