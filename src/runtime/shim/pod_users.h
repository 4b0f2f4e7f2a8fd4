#pragma once
// The users of a pod: a user namespace whose root and 65 535 others are unprivileged users of the
// machine, and the pod's network, IPC and host name inside it. The shim itself stays the machine's
// user, who writes logs and cgroups; only the containers' processes enter.

#include <string>

#include "base/os/fd.h"
#include "base/result.h"

namespace mangrove::runtime {

// Makes the namespace, its users starting at the machine's user `first`, and moves this process
// into new namespaces (CLONE_NEWNET and the like) that belong to it. kDenied and the like: this
// machine permits none. Forks; single-threaded processes only.
Result<UniqueFd> makePodUsers(int64_t first, int namespaces);

// Where the pods' users can be mapped on both directories; found out by trying. Forks.
bool permitsPodUsers(const std::string& dataDir);

}  // namespace mangrove::runtime
