#pragma once
// Which changes of objects may change what a node sells. Heartbeats are not among them, nor are our
// own writes when they come back. Pure.

#include "api/koordinator/node_resource_topology.h"
#include "api/object/node.h"

namespace mangrove::manager {

// What the sums of a node are made from and what they are written into.
bool isNews(const api::Node& before, const api::Node& after);
bool isNews(const api::NodeResourceTopology& before, const api::NodeResourceTopology& after);
// What the formulas read of a node, without what we write into it.
bool sameInputs(const api::Node& a, const api::Node& b);

}  // namespace mangrove::manager
