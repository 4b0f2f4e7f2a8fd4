#pragma once
// What is done to objects before they enter the cache, in the decoding thread: deprecated resource
// names get their present ones. Pure functions.

#include "api/node.h"
#include "api/pod.h"

namespace mangrove::scheduler {

void transformPod(api::Pod& pod);
void transformNode(api::Node& node);

}  // namespace mangrove::scheduler
