#pragma once
// Strategies of the ConfigMap are laid over each other by the API's rule (api/wire/overlay.h).

#include "api/wire/overlay.h"

namespace mangrove::manager {

using api::merged;
using api::overlay;

}  // namespace mangrove::manager
