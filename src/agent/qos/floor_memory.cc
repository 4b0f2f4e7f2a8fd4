#include "agent/qos/floor_memory.h"

#include <array>

#include "api/pod/classes.h"
#include "api/pod/pod_requests.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

using kernel::Feature;
using kernel::PodTier;

constexpr std::string_view kLow = kernel::resource_name::kMemoryLow;
constexpr std::string_view kGroupKill = kernel::resource_name::kOomGroup;

bool isBatch(const PodLook& pod) {
  return api::rawQos(pod.pod->meta.labels) == api::Qos::kBe;
}

void wantLow(const std::string& cgroup, Bytes bytes, Wishes& out) {
  if (bytes.v > 0)
    out.base(cgroup, kLow, FileValue::of(bytes.v), "memory that services asked for stays theirs");
}

// Containers as well: without memory_recursiveprot a pod's protection stops at the pod.
void protectPod(const PodLook& pod, Bytes request, Wishes& out) {
  wantLow(std::string(pod.cgroup), request, out);
  for (const ContainerLook& container : pod.containers)
    for (const api::Container& spec : pod.pod->spec->containers)
      if (spec.name.view() == container.name)
        wantLow(std::string(container.cgroup), spec.requests.memory(), out);
}

// A group protects no more than its parent does, hence the sums.
void protectServices(const Situation& now, Wishes& out) {
  Bytes burstable, all;
  for (const PodLook& pod : now.look.pods) {
    if (!pod.pod || pod.tier == PodTier::kBestEffort) continue;
    if (api::isTerminated(*pod.pod) || isBatch(pod)) continue;
    const Bytes request = api::podRequests(*pod.pod).memory();
    all += request;
    if (pod.tier == PodTier::kBurstable) burstable += request;
    protectPod(pod, request, out);
  }
  const kernel::CgroupLayout& layout = now.look.machine->layout();
  wantLow(layout.tierDir(PodTier::kBurstable), burstable, out);
  wantLow(layout.root(), all, out);
}

void killWholePods(const Situation& now, Wishes& out) {
  for (const PodLook& pod : now.look.pods)
    if (pod.pod && pod.tier == PodTier::kBestEffort && isBatch(pod))
      out.base(std::string(pod.cgroup), kGroupKill, FileValue::of(1),
               "half of a best-effort pod is of no use");
}

}  // namespace

void wantFloorMemory(const Situation& now, Wishes& out) {
  const kernel::Capabilities& can = now.look.machine->can();
  if (can.has(Feature::kMemoryMin)) protectServices(now, out);
  if (can.has(Feature::kOomGroup)) killWholePods(now, out);
}

}  // namespace mangrove::agent
