// What runs on GPUs: of the whole node, and of each pod by the cgroups of its processes.
#include <map>
#include <set>
#include <string>

#include "agent/collect/collector.h"
#include "agent/collect/usage_rules.h"
#include "agent/devices/nvml.h"

namespace mangrove::agent {
namespace {

struct Use {
  double corePercent = 0;
  Bytes memory{0};
};

void put(Shelf& shelf, const std::string& subject, const Use& use, Bytes total) {
  const Shelf::Id id = shelf.track(subject);
  shelf.put(id, gpu_column::kCore, use.corePercent);
  shelf.put(id, gpu_column::kMemory, static_cast<double>(use.memory.v));
  shelf.put(id, gpu_column::kMemoryTotal, static_cast<double>(total.v));
}

// A process of no pod is the host's; one that is gone meanwhile is nobody's.
const PodLook* ownerOf(int pid, const Machine& machine, Reader& reader,
                       std::span<const PodLook> pods) {
  const auto text = reader.readOnce(machine.mounts().procFile(std::to_string(pid) + "/cgroup"));
  if (!text) return nullptr;
  for (const PodLook& pod : pods)
    if (isProcessOf(*text, pod.cgroup)) return &pod;
  return nullptr;
}

void forgetGonePods(Shelf& shelf, std::span<const PodLook> pods) {
  std::set<std::string_view> alive;
  for (const PodLook& pod : pods) alive.insert(pod.uid);
  for (const std::string& subject : shelf.subjects())
    if (const auto pod = podOfSubject(subject); pod && !alive.contains(*pod)) shelf.drop(subject);
}

}  // namespace

void Collector::readGpuUse() {
  Shelf& shelf = history_.gpus();
  forgetGonePods(shelf, podLooks_);
  for (const Gpu& gpu : readGpus(machine_, look_.at)) {
    std::map<const PodLook*, Use> pods;
    for (const GpuProcess& process : gpu.processes.value_or(std::vector<GpuProcess>{})) {
      Use& use = pods[ownerOf(process.pid, machine_, reader_, podLooks_)];
      use.corePercent += process.corePercent;
      use.memory += process.memory;
    }
    const auto core = coreUse(gpu);
    const auto memory = memoryUse(gpu);
    if (!core || !memory) continue;
    const std::string subject = gpuSubject(gpu.minor, gpu.uuid);
    put(shelf, subject, {*core, *memory}, gpu.memory);
    if (gpu.celsius) shelf.put(shelf.track(subject), gpu_column::kCelsius, *gpu.celsius);
    for (const auto& [pod, use] : pods)
      if (pod != nullptr) put(shelf, podGpuSubject(pod->uid, gpu.minor, gpu.uuid), use, gpu.memory);
  }
}

}  // namespace mangrove::agent
