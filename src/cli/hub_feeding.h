#pragma once
// What an agent sees and does, handed to the dashboard's hub: the hook of `mangrove agent` and
// `mangrove up`. The hub outlives the agent.

#include "agent/qos/enforcement.h"
#include "dashboard/hub.h"

namespace mangrove::cli {

inline auto feeding(dashboard::Hub& hub) {
  return
      [&hub, told = false](const agent::Look& look, const agent::Enforcement* enforcement) mutable {
        if (enforcement && !told) hub.setControls(enforcement->teller());
        told = told || enforcement;
        hub.look(look, enforcement ? &enforcement->audit() : nullptr);
      };
}

}  // namespace mangrove::cli
