#pragma once
// The role speaks the language of placement/: pods, nodes, plugins and decisions have one name.

namespace mangrove::placement {}

namespace mangrove::scheduler {
using namespace placement;
}  // namespace mangrove::scheduler
