#include "workloads/claim.h"

#include "workloads/pods.h"

namespace mangrove::workloads {
namespace {

Amendment amendOwners(const api::Pod& pod, json::Object entry) {
  Amendment out;
  out.ref = {api::kind::kPod, std::string(pod.meta.ns.view()), pod.meta.name.str()};
  out.type = client::PatchType::kStrategic;
  out.body["metadata"] =
      json::Object{{"uid", pod.meta.uid.str()}, {"ownerReferences", json::Array{std::move(entry)}}};
  return out;
}

}  // namespace

Claim claimPods(const api::Kind& ownerKind, const api::ObjectMeta& owner,
                const api::Selector& selector, const Pods& candidates) {
  Claim claim;
  for (const auto& pod : candidates) {
    const auto* controller = pod->meta.controller();
    const bool matches = selector.matches(pod->meta.labels);
    if (controller && controller->uid == owner.uid) {
      if (matches)
        claim.own.push_back(pod);
      else if (!owner.isDeleting() && !pod->meta.isDeleting())
        claim.amendments.push_back(
            amendOwners(*pod, {{"$patch", "delete"}, {"uid", owner.uid.str()}}));
    } else if (!controller && matches && !owner.isDeleting() && api::isActive(*pod)) {
      claim.amendments.push_back(amendOwners(*pod, ownerReference(ownerKind, owner)));
    }
  }
  return claim;
}

}  // namespace mangrove::workloads
