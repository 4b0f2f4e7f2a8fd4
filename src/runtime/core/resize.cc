#include "runtime/core/resize.h"

#include <fmt/core.h>

#include "api/pod/classes.h"
#include "api/pod/pod_requests.h"
#include "api/wire/names.h"

namespace mangrove::runtime {

namespace {

bool differs(const Grant& a, const Grant& b, std::string_view resource) {
  return !(a.requests.amount(resource) == b.requests.amount(resource)) ||
         !(a.limits.amount(resource) == b.limits.amount(resource));
}

bool wantsRestart(const api::ContainerRun& run, std::string_view resource) {
  for (const auto& rule : run.resizePolicy)
    if (rule.resource == resource) return rule.restart == "RestartContainer";
  return false;
}

std::string tooMuch(const api::PodSpec& spec, const MachineSize& machine) {
  const api::ResourceList asked = api::podRequests(spec);
  if (asked.cpu() > machine.cpu)
    return fmt::format("Node didn't have enough capacity: cpu, requested: {}, capacity: {}",
                       asked.cpu().v, machine.cpu.v);
  if (asked.memory() > machine.memory)
    return fmt::format("Node didn't have enough capacity: memory, requested: {}, capacity: {}",
                       asked.memory().v, machine.memory.v);
  return "";
}

}  // namespace

Resize resizeOf(const RunPod& pod, const PodRecord& record, const MachineSize& machine) {
  Resize out;
  for (const auto& container : containersOf(pod)) {
    const auto* r = record.find(container.name());
    const bool lives = r && r->running && !r->stopping && r->grant;
    if (!lives || container.role == ContainerRole::kEphemeral) continue;
    const Grant wanted = grantOf(*container.spec);
    bool changed = false, restart = false;
    for (std::string_view resource : {api::resource::kCpu, api::resource::kMemory}) {
      if (!differs(wanted, *r->grant, resource)) continue;
      changed = true;
      restart = restart || wantsRestart(*container.run, resource);
    }
    if (changed) (restart ? out.restart : out.apply).emplace_back(container.name());
  }
  if (out.needed()) out.infeasible = tooMuch(*pod.pod.spec, machine);
  // The class says where the pod's cgroups are, so it stays for life.
  if (out.needed() && api::kubeQos(pod.pod) != api::computeKubeQos(*pod.pod.spec))
    out.infeasible = "Pod QOS Class may not change as a result of resizing";
  return out;
}

}  // namespace mangrove::runtime
