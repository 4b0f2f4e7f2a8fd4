#pragma once
// Which pods are a controller's own: those that name it as controller and match its selector.
// Orphans that match are adopted, own ones that match no longer are let go. Pure functions, any
// thread.

#include "api/selector.h"
#include "workloads/plan.h"

namespace mangrove::workloads {

struct Claim {
  Pods own;
  std::vector<Amendment> amendments;  // adoptions and releases
};

// `candidates`: the pods of the namespace that name the owner, or nobody, as their controller. An
// owner that is being deleted adopts nothing.
Claim claimPods(const api::Kind& ownerKind, const api::ObjectMeta& owner,
                const api::Selector& selector, const Pods& candidates);

}  // namespace mangrove::workloads
