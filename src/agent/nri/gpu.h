#pragma once
// What a container with GPUs needs: which ones it may see, and where it has a part of one, the
// library of HAMi-core that holds it to that part.
//
//   std::vector<api::DeviceAllocation> gpus = allocatedGpus(pod.annotations);
//   out.env = deviceEnv(gpus);
//   isolateGpu({"/usr/local/vgpu/libvgpu.so", false}, pod, "main", out);
//
// Pure but for makeSources; any thread.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agent/nri/messages.h"
#include "api/annotations/device.h"

namespace mangrove::agent {

// By the scheduler's decision; none when the annotation says nothing or nonsense.
std::vector<api::DeviceAllocation> allocatedGpus(const api::Annotations& pod);
// NVIDIA_VISIBLE_DEVICES.
std::map<std::string, std::string> deviceEnv(const std::vector<api::DeviceAllocation>& gpus);

struct HamiCore {
  std::string library = "/usr/local/vgpu/libvgpu.so";  // on the node and in containers
  bool monitor = false;                                // a folder for each container's figures
};
// For pods that ask for HAMi-core and got less than the whole memory of a GPU; others get nothing.
void isolateGpu(const HamiCore& how, const NriPod& pod, std::string_view container,
                NriAdjustment& out);

// Makes the folders that mounts need, empty and open to everybody. A mount whose folder cannot be
// made is taken out: the container starts without it. Says what went wrong, "" for nothing.
std::string makeSources(NriAdjustment& adjustment);

}  // namespace mangrove::agent
