#include "runtime/core/admission.h"

#include <fmt/core.h>

#include "api/pod/pod_requests.h"
#include "api/pod/sysctls.h"

namespace mangrove::runtime {

namespace {

std::optional<Refusal> check(const char* resource, int64_t asked, int64_t used, int64_t room) {
  if (asked == 0 || asked + used <= room) return std::nullopt;
  return Refusal{fmt::format("OutOf{}", resource),
                 fmt::format("Pod was rejected: Node didn't have enough resource: {}, requested: "
                             "{}, used: {}, capacity: {}",
                             resource, asked, used, room)};
}

// Empty: the pod may set it.
std::string_view whyForbidden(const RunPod& pod, std::string_view name) {
  if (!api::safeSysctl(name)) return "not allowlisted";
  if (pod.pod.spec->hostNetwork && name.starts_with("net.")) return "not allowed with host net";
  if (pod.pod.spec->hostIpc && name.starts_with("kernel.")) return "not allowed with host ipc";
  return "";
}

}  // namespace

std::optional<Refusal> sysctlRefusal(const RunPod& pod) {
  for (const api::Sysctl& one : pod.run.security.sysctls)
    if (const std::string_view why = whyForbidden(pod, one.name); !why.empty())
      return Refusal{"SysctlForbidden", fmt::format("forbidden sysctl: \"{}\" {}", one.name, why)};
  return std::nullopt;
}

std::optional<Refusal> refusalOf(const RunPod& pod, const std::vector<const RunPod*>& present,
                                 const Room& room) {
  if (!pod.pod.status.containers.empty() || api::isTerminated(pod.pod)) return std::nullopt;
  if (auto no = sysctlRefusal(pod)) return no;
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
