#pragma once
// Which objects are a controller's own: those that name it as controller and match its selector.
// Orphans that match are adopted, own ones that match no longer are let go. Pure functions, any
// thread.
//
//   auto claim = claimOwn(kind::kReplicaSet, set.meta, selector, kind::kPod, candidates, isActive);
//   claim.own; plan.change += claim.amendments

#include <memory>
#include <vector>

#include "api/select/selector.h"
#include "workloads/plan.h"

namespace mangrove::workloads {

template <class T>
struct Claim {
  std::vector<std::shared_ptr<const T>> own;
  std::vector<Amendment> amendments;  // adoptions and releases
};

Amendment adoption(const api::Kind& kind, const api::ObjectMeta& orphan, const api::Kind& ownerKind,
                   const api::ObjectMeta& owner);
Amendment release(const api::Kind& kind, const api::ObjectMeta& child,
                  const api::ObjectMeta& owner);

// `candidates`: objects of the namespace that name the owner, or nobody, as their controller.
// `adoptable` tells which orphans are worth it. An owner that is being deleted adopts nothing.
template <class T, class Adoptable>
Claim<T> claimOwn(const api::Kind& ownerKind, const api::ObjectMeta& owner,
                  const api::Selector& selector, const api::Kind& kind,
                  const std::vector<std::shared_ptr<const T>>& candidates, Adoptable adoptable) {
  Claim<T> claim;
  for (const auto& one : candidates) {
    const auto* controller = one->meta.controller();
    const bool matches = selector.matches(one->meta.labels);
    if (controller && controller->uid == owner.uid) {
      if (matches)
        claim.own.push_back(one);
      else if (!owner.isDeleting() && !one->meta.isDeleting())
        claim.amendments.push_back(release(kind, one->meta, owner));
    } else if (!controller && matches && !owner.isDeleting() && adoptable(*one)) {
      claim.amendments.push_back(adoption(kind, one->meta, ownerKind, owner));
    }
  }
  return claim;
}

}  // namespace mangrove::workloads
