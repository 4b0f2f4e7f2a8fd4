#include "cli/command.h"
#include "descheduler/role.h"

namespace mangrove::cli {

int descheduler(const std::vector<std::string>& args) {
  mangrove::descheduler::DeschedulerRole role;
  return frame::runRole(role, args);
}

}  // namespace mangrove::cli
