#pragma once
// A user namespace for a pod of somebody who is not root: inside, its one user may make the other
// namespaces; outside it is who it was. Single-threaded processes only.

#include "base/result.h"

namespace mangrove::runtime {

Result<> enterUserNamespace();

}  // namespace mangrove::runtime
