#include "cli/command.h"
#include "cli/dashboard_role.h"
#include "manager/role.h"

namespace mangrove::cli {

int manager(const std::vector<std::string>& args) {
  dashboard::Hub hub;
  mangrove::manager::ManagerRole role;
  DashboardRole shown(role, hub, [&] {
    return DashboardHouse{
        role.client(), role.home(), {}, role.options().configNamespace, role.options().configName};
  });
  return frame::runRole(shown, args);
}

}  // namespace mangrove::cli
