#pragma once
// What is taken away from a node before anything of it is sold: what the kubelet keeps (capacity −
// allocatable, from the raw allocatable when it is amplified) and what the node's annotation reserves.
//
//   const NodeKept kept = keptOf(node);      // whichever of the two is larger counts
//
// Pure, any thread.

#include <string>

#include "api/object/node.h"
#include "api/pod/resource_list.h"

namespace mangrove::api {

struct NodeKept {
  Quantity kubeletCpu, kubeletMemory;  // never below zero
  ResourceList annotated;
  std::string ignored;  // why the annotation was not used; "" when it was, or is absent
};
NodeKept keptOf(const Node& node);

}  // namespace mangrove::api
