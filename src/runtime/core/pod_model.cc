#include "runtime/core/pod_model.h"

namespace mangrove::runtime {

bool read(const api::In& in, RunPod& out) {
  return api::read(in, out.pod) && api::read(in, out.run);
}

namespace {

void pair(const std::vector<api::Container>& specs, const std::vector<api::ContainerRun>& runs,
          bool init, std::vector<ContainerSpec>& out) {
  for (size_t i = 0; i < specs.size() && i < runs.size(); ++i) {
    const ContainerRole role = !init                ? ContainerRole::kMain
                               : specs[i].isSidecar ? ContainerRole::kSidecar
                                                    : ContainerRole::kInit;
    out.push_back({role, &specs[i], &runs[i]});
  }
}

}  // namespace

std::vector<ContainerSpec> containersOf(const RunPod& pod) {
  std::vector<ContainerSpec> all;
  pair(pod.pod.spec->initContainers, pod.run.initContainers, true, all);
  pair(pod.pod.spec->containers, pod.run.containers, false, all);
  static const api::Container kNothingAsked;
  for (const auto& run : pod.run.ephemeralContainers)
    all.push_back({ContainerRole::kEphemeral, &kNothingAsked, &run});
  return all;
}

std::string hostnameOf(const RunPod& pod) {
  return pod.run.hostname.empty() ? pod.name() : pod.run.hostname;
}

Grant grantOf(const api::Container& container) {
  return {container.requests, container.limits};
}

ContainerRecord* PodRecord::find(std::string_view name) {
  for (auto& one : containers)
    if (one.name == name) return &one;
  return nullptr;
}

const ContainerRecord* PodRecord::find(std::string_view name) const {
  return const_cast<PodRecord*>(this)->find(name);
}

}  // namespace mangrove::runtime
