// What does not wait for the tick because a pod or a container begins: told by a container runtime
// (NRI) or by the node runner of `up`, and done by the same hooks that keep it at every tick.
#include <algorithm>

#include <fmt/format.h>

#include "agent/hooks/cpuset.h"
#include "agent/qos/enforcement.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

kernel::PodTier tierOfParent(std::string_view cgroupParent) {
  const api::KubeQos qos = kubeQosOfParent(cgroupParent);
  return qos == api::KubeQos::kBestEffort  ? kernel::PodTier::kBestEffort
         : qos == api::KubeQos::kBurstable ? kernel::PodTier::kBurstable
                                           : kernel::PodTier::kGuaranteed;
}

// A pod that the last look does not have yet.
PodLook newPod(const PodPtr& pod, PodSaidPtr said, const StartingContainer& from) {
  PodLook one;
  one.pod = pod;
  one.said = std::move(said);
  one.uid = from.uid;
  one.cgroup = from.podCgroup;
  one.tier = from.tier;
  one.qos = api::qosWithDefault(*pod);
  return one;
}

ContainerLook newContainer(const StartingContainer& from) {
  ContainerLook one;
  one.serial = ~uint64_t{0};
  one.id = from.id;
  one.name = from.name;
  one.cgroup = from.cgroup;
  return one;
}

}  // namespace

// What a pod's object says was watched before anybody was asked to run it.
bool Enforcement::containerStarts(const StartingContainer& one) {
  const Look& last = agent_.look();
  const PodPtr pod = agent_.book().find(one.uid);
  if (!pod || last.machine == nullptr) return false;
  std::vector<PodLook> pods(last.pods.begin(), last.pods.end());
  auto mine = std::find_if(pods.begin(), pods.end(),
                           [&](const PodLook& look) { return look.uid == one.uid; });
  if (mine == pods.end())
    mine = pods.insert(mine, newPod(pod, agent_.book().saidBy(*pod), one));
  else if (one.cgroup.empty())
    return true;  // the tick has seen to it
  std::vector<ContainerLook> containers(mine->containers.begin(), mine->containers.end());
  const bool known = std::any_of(containers.begin(), containers.end(),
                                 [&](const ContainerLook& c) { return c.cgroup == one.cgroup; });
  if (known) return true;
  if (!one.cgroup.empty()) containers.push_back(newContainer(one));
  mine->containers = containers;
  Look now = last;
  now.pods = pods;
  count(enforcer_->podBegan(now, agent_.node().get(), agent_.topology().get()));
  // Its containers come next, and its groups are there now.
  if (one.cgroup.empty()) publishRules(now, agent_.node().get(), agent_.topology().get());
  return true;
}

void Enforcement::podBegan(const NriPod& nri) {
  const kernel::PodTier tier = tierOfParent(nri.cgroupParent);
  containerStarts({nri.uid, agent_.machine().layout().podDir(tier, nri.uid), tier});
}

// By the process that waits in it; "": none does.
std::string Enforcement::cgroupOf(const std::string& pod, const NriContainer& container) const {
  const ControlReader reader(agent_.machine());
  for (const char* runtime : {"containerd", "cri-o"}) {
    auto dir =
        agent_.machine().layout().containerDir(pod, fmt::format("{}://{}", runtime, container.id));
    if (dir && !reader.members(*dir, kernel::resource_name::kProcs).empty()) return *dir;
  }
  return "";
}

// What belongs to processes (cookies, groups of resctrl) does not wait for the tick either.
void Enforcement::containerBegan(const NriPod& nri, const NriContainer& container) {
  const kernel::PodTier tier = tierOfParent(nri.cgroupParent);
  const std::string pod = agent_.machine().layout().podDir(tier, nri.uid);
  const std::string cgroup = cgroupOf(pod, container);
  if (!cgroup.empty()) containerStarts({nri.uid, pod, tier, container.id, container.name, cgroup});
}

}  // namespace mangrove::agent
