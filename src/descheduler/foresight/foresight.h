#pragma once
// Where a pod would go, now, with these others moved: asked before anybody is evicted. What was
// found is part of the plan from then on, so that no two pods are promised the same room.
//
//   if (auto node = foresight.landing(pod, accepts)) evict(pod, *node);
//   else log.debug("{} stays: {}", name, node.error().text());
//
// Owner's thread, within a cycle.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/pod/pod.h"
#include "base/result.h"
#include "descheduler/gang/gang_way.h"
#include "descheduler/look.h"

namespace mangrove::descheduler {

// Whether a node is welcome as a target; empty: every one is. By its name: what the scheduler's core
// knows of a node is another object than ours once the node has sent a sign of life.
using Accepts = std::function<bool(std::string_view node)>;
// The same for each of several pods.
using AcceptsFor = std::function<bool(const api::Pod& pod, std::string_view node)>;

class Foresight {
 public:
  virtual ~Foresight() = default;
  // The node that the scheduler's rules give it, its own excluded; the error says why there is
  // none.
  virtual Result<std::string> landing(const api::Pod& pod, const Accepts& accepts) = 0;
  // Where all of them go together, in their order: everybody has left before the first is placed.
  virtual Result<std::vector<std::string>> landings(const Pods& pods,
                                                    const AcceptsFor& accepts) = 0;
  // The same with others that have no node yet, who get theirs before those that leave; first the
  // nodes of those that leave, then of those that come.
  virtual Result<std::vector<std::string>> rearranged(const Pods& leaving, const Pods& coming) = 0;
  // The pod's gang as the scheduler knows it; nullopt: it is in none that is known.
  virtual std::optional<GangFacts> gangOf(const api::Pod& pod) = 0;
  // What was found last, one move or several together, is not made.
  virtual void takeBack() = 0;
};

}  // namespace mangrove::descheduler
