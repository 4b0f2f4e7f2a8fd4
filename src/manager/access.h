#pragma once
// What the manager asks of an API server, all of it: config/rbac/manager.yaml and
// config/webhook/rbac.yaml grant exactly this, which a test compares.
//
//   for (const Access& need : managerAccess()) …
//
// Any thread.

#include <vector>

#include "manager/controller.h"

namespace mangrove::manager {

// Of the process itself and of its controllers, in all namespaces.
std::vector<Access> managerAccess();
// In its own namespace: the Lease.
std::vector<Access> managerOwnAccess();
// Of admission.
std::vector<Access> admissionAccess();
// In its own namespace: the certificates.
std::vector<Access> admissionOwnAccess();

}  // namespace mangrove::manager
