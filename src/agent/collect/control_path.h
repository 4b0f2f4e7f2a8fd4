#pragma once
// The file of a control resource for one cgroup on this machine, relative to its root; "" when this
// cgroup version has none.
//
//   controlPath(machine, kernel::resource_name::kMemoryStat, "kubepods.slice")

#include <string>
#include <string_view>

#include "agent/machine.h"
#include "base/check.h"
#include "kernel/control_files.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {

inline std::string controlPath(const Machine& machine, std::string_view resource,
                               std::string_view cgroup) {
  const kernel::ControlResource* known = kernel::findResource(resource);
  CHECK(known != nullptr, "no control resource {}", resource);
  return kernel::filePath(machine.trees(), *known, cgroup).value_or("");
}

}  // namespace mangrove::agent
