#pragma once
// The last steps of a process before it becomes a container's program: filter, user, capabilities,
// no_new_privs. In this order, because each needs what the next takes away. Single-threaded child;
// there is no way back.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace mangrove::runtime {

struct Confinement {
  int64_t uid = 0, gid = 0;
  std::vector<int64_t> groups;
  uint64_t capabilities = 0;
  bool noNewPrivileges = true;
  std::string filter;   // program of system calls; "": none
  bool mapped = false;  // in the pod's user namespace, where nobody is who he looks
};
Result<> confine(const Confinement& to);

}  // namespace mangrove::runtime
