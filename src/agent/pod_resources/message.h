#pragma once
// The kubelet's pod resources with devices added: works on the encoded messages, so that everything
// we do not know in them stays. Messages (protobuf, package v1):
//
//   ListPodResourcesResponse {1: repeated PodResources}
//   GetPodResourcesResponse {1: PodResources}
//   PodResources {1: name, 2: namespace, 3: repeated ContainerResources}
//   ContainerResources {1: name, 2: repeated ContainerDevices {1: resource, 2: repeated id}, …}
//
//   std::string fuller = *withDevices(answer, [&](ns, name) { return devicesOf(ns, name); });
//
// Pure; any thread.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/annotations/device.h"
#include "api/pod/pod_spec.h"
#include "base/result.h"

namespace mangrove::agent {

// Ids by resource name, for one container.
using AddedDevices = std::map<std::string, std::vector<std::string>>;

// What the scheduler gave a pod, as device plugins would say it: nvidia.com/gpu,
// koordinator.sh/rdma; the ids are those of virtual functions where there are some.
AddedDevices devicesOf(const api::DeviceAllocations& allocations);

// The container that asks for devices; "" when none or several do.
std::string deviceContainer(const api::PodSpec& spec);

struct PodDevices {
  PodDevices(AddedDevices added = {}, std::string to = {})
      : devices(std::move(added)), container(std::move(to)) {}
  AddedDevices devices;
  std::string container;  // "" (or one that the answer lacks): the first
};

// `answer` of List or Get; `find` is asked for each pod. An error when it is no such message.
using FindDevices = std::function<PodDevices(std::string_view ns, std::string_view name)>;
Result<std::string> withDevices(std::string_view answer, const FindDevices& find);

// One field of a message, for tests and callers that build small ones.
void appendField(std::string& message, uint32_t number, std::string_view content);

}  // namespace mangrove::agent
