#pragma once
// All feature gates of the manager: those that controllers ask for (controllers/list.def), those of
// admission (webhook/gates.h), and names of the reference that mean nothing here and are accepted
// so that existing manifests start.

#include <span>

#include "base/feature_gates.h"

namespace mangrove::manager {

std::span<const GateInfo> managerGates();

}  // namespace mangrove::manager
