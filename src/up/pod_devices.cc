#include "up/pod_devices.h"

#include <array>
#include <filesystem>

#include <fmt/core.h>

#include "agent/machine.h"
#include "api/annotations/device.h"

namespace mangrove::up {
namespace {

// Of NVIDIA's driver, beside one file per card.
constexpr std::array<std::string_view, 4> kDriverFiles = {
    "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset"};

void addIfThere(const DeviceKit& kit, std::string path, runtime::DeviceGear& out) {
  if (kit.exists(path)) out.nodes.push_back(std::move(path));
}

void addCards(const DeviceKit& kit, const std::vector<api::DeviceAllocation>& gpus,
              runtime::DeviceGear& out) {
  if (gpus.empty()) return;
  for (std::string_view path : kDriverFiles) addIfThere(kit, std::string(path), out);
  for (const api::DeviceAllocation& one : gpus)
    addIfThere(kit, fmt::format("/dev/nvidia{}", one.minor), out);
}

Result<> addHami(const DeviceKit& kit, const api::Pod& pod, std::string_view container,
                 runtime::DeviceGear& out) {
  agent::NriAdjustment wanted;
  agent::NriPod told;
  told.uid = pod.meta.uid.str();
  told.labels = pod.meta.labels;
  told.annotations = pod.meta.annotations;
  agent::isolateGpu(kit.hami, told, container, wanted);
  if (wanted.mounts.empty()) return {};
  if (!kit.exists(kit.hami.library))
    return fail(Code::kNotFound,
                "the pod's share of a GPU is to be held by HAMi-core, and {} is not there",
                kit.hami.library);
  for (const auto& [name, value] : wanted.env) out.env.emplace_back(name, value);
  for (const agent::NriMount& one : wanted.mounts)
    out.mounts.push_back(
        {one.source, one.destination, one.readOnly, one.source != kit.hami.library});
  return {};
}

}  // namespace

DeviceKit deviceKit() {
  const auto machine = agent::liveMachine();
  DeviceKit out;
  out.exists = [](const std::string& path) {
    std::error_code error;
    return std::filesystem::exists(path, error);
  };
  out.rdma = agent::rdmaNodes(kernel::SysRoot(machine.root), machine.mounts);
  return out;
}

Result<runtime::DeviceGear> gearFor(const DeviceKit& kit, const api::Pod& pod,
                                    std::string_view container) {
  runtime::DeviceGear out;
  addCards(kit, agent::allocatedGpus(pod.meta.annotations), out);
  for (const agent::NriDevice& one : agent::rdmaDevices(kit.rdma, pod.meta.annotations))
    addIfThere(kit, one.path, out);
  if (auto ok = addHami(kit, pod, container, out); !ok) return pass(ok.error());
  return out;
}

}  // namespace mangrove::up
