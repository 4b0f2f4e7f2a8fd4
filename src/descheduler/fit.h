#pragma once
// A quick look whether a pod could stand on a node at all: selector, taints, requests against what is
// free, room for one more pod, not cordoned. It is coarser than the scheduler on purpose and proves
// nothing: affinity between pods, spread, ports and volumes are the scheduler's rules, and whoever
// needs them asks it there.
//
//   NodeFit fit(look);
//   if (fit.fits(pod, node)) …
//
// Sums of requests are kept from the first question about a node on. One thread.

#include <map>
#include <string>
#include <vector>

#include "api/pod/resource_list.h"
#include "descheduler/look.h"

namespace mangrove::descheduler {

class NodeFit {
 public:
  explicit NodeFit(const Look& look) : look_(look) {}
  bool fits(const api::Pod& pod, const api::Node& node);
  bool fitsAny(const api::Pod& pod, const Nodes& nodes);

  struct Room {
    api::ResourceList free;  // allocatable minus requests of active pods
    int64_t pods = 0;        // how many more may come; without a limit: as many as wanted
  };
  const Room& room(const api::Node& node);

 private:
  const Look& look_;
  std::map<const api::Node*, Room> rooms_;
};

// The parts that need no sums.
bool isWantedBy(const api::Pod& pod, const api::Node& node);    // selector and required affinity
bool toleratesAll(const api::Pod& pod, const api::Node& node);  // taints that keep pods off
bool admits(const api::Node& node, const api::Pod& pod);        // both, and not cordoned
bool holds(const NodeFit::Room& room, const api::ResourceList& requests);

}  // namespace mangrove::descheduler
