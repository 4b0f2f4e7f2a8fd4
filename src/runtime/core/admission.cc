#include "runtime/core/admission.h"

#include <fmt/core.h>

#include "api/pod/pod_requests.h"

namespace mangrove::runtime {

namespace {

std::optional<Refusal> check(const char* resource, int64_t asked, int64_t used, int64_t room) {
  if (asked == 0 || asked + used <= room) return std::nullopt;
  return Refusal{fmt::format("OutOf{}", resource),
                 fmt::format("Pod was rejected: Node didn't have enough resource: {}, requested: "
                             "{}, used: {}, capacity: {}",
                             resource, asked, used, room)};
}

}  // namespace

std::optional<Refusal> refusalOf(const RunPod& pod, const std::vector<const RunPod*>& present,
                                 const Room& room) {
  if (!pod.pod.status.containers.empty() || api::isTerminated(pod.pod)) return std::nullopt;
  MilliCpu cpu;
  Bytes memory;
  for (const RunPod* other : present) {
    const api::ResourceList requests = api::podRequests(*other->pod.spec);
    cpu += requests.cpu();
    memory += requests.memory();
  }
  const api::ResourceList asked = api::podRequests(*pod.pod.spec);
  if (auto no = check("pods", 1, static_cast<int64_t>(present.size()), room.pods)) return no;
  if (auto no = check("cpu", asked.cpu().v, cpu.v, room.cpu.v)) return no;
  return check("memory", asked.memory().v, memory.v, room.memory.v);
}

}  // namespace mangrove::runtime
