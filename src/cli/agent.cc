#include "agent/role.h"
#include "cli/command.h"
#include "cli/dashboard_role.h"
#include "cli/hub_feeding.h"

namespace mangrove::cli {

int agent(const std::vector<std::string>& args) {
  dashboard::Hub hub;
  mangrove::agent::AgentRole role;
  DashboardRole shown(role, hub, [&] {
    role.onLook(feeding(hub));
    return DashboardHouse{role.client(), role.home(), role.nodeName(), {}, {}};
  });
  return frame::runRole(shown, args);
}

}  // namespace mangrove::cli
