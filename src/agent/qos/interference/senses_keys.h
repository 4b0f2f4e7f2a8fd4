#pragma once
// Under which key, and for how many CPUs, a service's measurements are learned. Pure, any thread.

#include <string>

#include "agent/qos/strategy.h"

namespace mangrove::agent {

double cpusOf(const PodLook& pod);
// The workload that a pod is one of, whatever its rollout.
std::string classOf(const api::Pod& pod);
std::string keyOf(const Situation& now, const PodLook& pod);

}  // namespace mangrove::agent
