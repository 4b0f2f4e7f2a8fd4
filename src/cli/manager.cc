#include "cli/command.h"
#include "manager/role.h"

namespace mangrove::cli {

int manager(const std::vector<std::string>& args) {
  mangrove::manager::ManagerRole role;
  return frame::runRole(role, args);
}

}  // namespace mangrove::cli
