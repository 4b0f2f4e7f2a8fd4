#pragma once
// What an agent sees and does, handed to the dashboard's hub: the hook of `mangrove agent` and
// `mangrove up`. The hub outlives the agent.

#include "agent/almanac/serve.h"
#include "agent/look_hook.h"
#include "agent/qos/enforcement.h"
#include "base/clock.h"
#include "dashboard/hub.h"

namespace mangrove::cli {

inline void introduce(dashboard::Hub& hub, const agent::Beside& beside) {
  if (beside.enforcement) hub.setControls(beside.enforcement->teller());
  if (beside.almanac)
    hub.setAlmanac([almanac = beside.almanac](std::string_view target) {
      return agent::tellAlmanac(*almanac, target, realClock());
    });
}

inline agent::LookHook feeding(dashboard::Hub& hub) {
  return [&hub, told = false](const agent::Look& look, const agent::Beside& beside) mutable {
    if (!told) introduce(hub, beside);
    told = true;
    hub.look(look, beside.enforcement ? &beside.enforcement->audit() : nullptr);
  };
}

}  // namespace mangrove::cli
