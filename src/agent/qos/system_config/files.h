#pragma once
// Kernel parameters from the NodeSLO's systemStrategy. Pure function, any thread.
//
//   for (auto [path, value] : systemFiles(strategy, memory)) …

#include <map>
#include <string>

#include "api/koordinator/slo_strategy.h"
#include "kernel/hierarchies.h"

namespace mangrove::agent {

// Path below the root, without a leading slash, to value. What is unset or out of range is left
// out: the kernel keeps what it has.
std::map<std::string, std::string> systemFiles(const api::SystemStrategy& strategy, Bytes memory,
                                               const kernel::Mounts& mounts = {});

}  // namespace mangrove::agent
