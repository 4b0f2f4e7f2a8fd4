#pragma once
// What the manager asks of an API server, all of it. config/rbac/manager.yaml and
// manager-enforce.yaml together, and config/webhook/rbac.yaml for admission, grant exactly this; a
// test compares.
//
//   for (const Access& need : managerAccess()) …
//
// Any thread.

#include <vector>

#include "manager/controller.h"

namespace mangrove::manager {

// Of the process itself and of its controllers.
std::vector<Access> managerAccess();
// Of admission.
std::vector<Access> admissionAccess();

}  // namespace mangrove::manager
