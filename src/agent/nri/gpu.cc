#include "agent/nri/gpu.h"

#include <filesystem>

#include <fmt/format.h>

#include "api/wire/names.h"

namespace mangrove::agent {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kWholeGpu = 100;
// HAMi-core's processes take turns by a file in it; shared by all containers of the node.
constexpr const char* kLockDir = "/tmp/vgpulock";

// The name of a container's folder; "" when it would not be one below its parent.
std::string folderName(const NriPod& pod, std::string_view container) {
  const std::string name = fmt::format("{}_{}", pod.uid, container);
  const bool isOne = !pod.uid.empty() && !container.empty() && name.find('/') == name.npos;
  return isOne ? name : "";
}

// Where HAMi's monitor finds what the container uses. Before the library, which lies inside of it.
void addMonitor(const HamiCore& how, const std::string& name, NriAdjustment& out) {
  const fs::path dir = fs::path(how.library).parent_path();
  out.env["CUDA_DEVICE_MEMORY_SHARED_CACHE"] = (dir / (name + ".cache")).string();
  out.mounts.push_back({.destination = dir.string(),
                        .source = (dir / "containers" / name).string(),
                        .makeSource = true});
}

std::string makeEmpty(const fs::path& dir) {
  std::error_code error;
  fs::remove_all(dir, error);
  if (!error) fs::create_directories(dir, error);
  if (!error) fs::permissions(dir, fs::perms::all, error);
  return error ? fmt::format("make the folder {}: {}", dir.string(), error.message()) : "";
}

}  // namespace

std::vector<api::DeviceAllocation> allocatedGpus(const api::Annotations& pod) {
  auto allocated = api::parseDeviceAllocations(pod);
  if (!allocated || !*allocated) return {};
  const auto gpus = (*allocated)->find("gpu");
  if (gpus == (*allocated)->end()) return {};
  return gpus->second;
}

std::map<std::string, std::string> deviceEnv(const std::vector<api::DeviceAllocation>& gpus) {
  if (gpus.empty()) return {};
  std::string minors;
  for (const api::DeviceAllocation& one : gpus)
    minors += fmt::format("{}{}", minors.empty() ? "" : ",", one.minor);
  return {{"NVIDIA_VISIBLE_DEVICES", minors}};
}

void isolateGpu(const HamiCore& how, const NriPod& pod, std::string_view container,
                NriAdjustment& out) {
  if (!api::isolatesGpuByHami(pod.labels)) return;
  const auto gpus = allocatedGpus(pod.annotations);
  if (gpus.empty()) return;
  const api::ResourceList& first = gpus.front().resources;
  const Quantity* ratio = first.find(api::resource::kGpuMemoryRatio);
  const Quantity* memory = first.find(api::resource::kGpuMemory);
  if (!ratio || !memory || ratio->value() >= kWholeGpu) return;
  out.env["CUDA_DEVICE_MEMORY_LIMIT"] = std::to_string(memory->value());
  if (const Quantity* core = first.find(api::resource::kGpuCore))
    out.env["CUDA_DEVICE_SM_LIMIT"] = std::to_string(core->value());
  out.env["LD_PRELOAD"] = how.library;
  const std::string name = how.monitor ? folderName(pod, container) : "";
  if (!name.empty()) addMonitor(how, name, out);
  // Everybody's library: no container may change it for the others.
  out.mounts.push_back({.destination = how.library, .source = how.library, .readOnly = true});
  out.mounts.push_back({.destination = kLockDir, .source = kLockDir});
}

std::string makeSources(NriAdjustment& adjustment) {
  std::string trouble;
  std::erase_if(adjustment.mounts, [&](const NriMount& mount) {
    const std::string why = mount.makeSource ? makeEmpty(mount.source) : "";
    if (!why.empty()) trouble = why;
    return !why.empty();
  });
  return trouble;
}

}  // namespace mangrove::agent
