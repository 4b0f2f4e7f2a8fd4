#pragma once
// Where a host application's cgroup is: as NodeSLO says, or by its QoS under a fixed name.
//
//   hostAppDir({.name = "nginx", .qos = "LS"}, layout)      // host-latency-sensitive/nginx
//
// Pure, any thread.

#include <string>

#include "api/koordinator/slo_strategy.h"
#include "kernel/cgroup_layout.h"

namespace mangrove::agent {

// Relative to the root of a hierarchy; with a leading slash where the NodeSLO writes one.
std::string hostAppDir(const api::HostApplication& app, const kernel::CgroupLayout& layout);

}  // namespace mangrove::agent
