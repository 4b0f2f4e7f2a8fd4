// What YARN's applications use inside the pods of NodeManagers.
#include "agent/collect/collector.h"
#include "api/annotations/yarn.h"

namespace mangrove::agent {

void Collector::readYarn() {
  std::map<uint64_t, YarnPod> still;
  for (PodLook& look : podLooks_) {
    look.yarn = {};
    if (!look.pod || !api::isNodeManager(look.pod->meta.labels)) continue;
    auto known = yarn_.extract(look.serial);
    YarnPod& pod =
        known ? still.insert(std::move(known)).position->second
              : still.try_emplace(look.serial, YarnPod{YarnMeter(machine_), {}}).first->second;
    pod.uses = pod.meter.sample(look.cgroup, clock_.mono());
    look.yarn = pod.uses;
  }
  yarn_ = std::move(still);
}

}  // namespace mangrove::agent
