#pragma once
// Where a pod would go, now, with these others moved: asked before anybody is evicted. What was
// found is part of the plan from then on, so that no two pods are promised the same room.
//
//   if (auto node = foresight.landing(pod, accepts)) evict(pod, *node);
//   else log.debug("{} stays: {}", name, node.error().text());
//
// Owner's thread, within a cycle.

#include <functional>
#include <string>

#include "api/object/node.h"
#include "api/pod/pod.h"
#include "base/result.h"

namespace mangrove::descheduler {

// Whether a node is welcome as a target; empty: every one is.
using Accepts = std::function<bool(const api::Node& node)>;

class Foresight {
 public:
  virtual ~Foresight() = default;
  // The node that the scheduler's rules give it, its own excluded; the error says why there is
  // none.
  virtual Result<std::string> landing(const api::Pod& pod, const Accepts& accepts) = 0;
  // The move that was found last is not made.
  virtual void takeBack() = 0;
};

}  // namespace mangrove::descheduler
