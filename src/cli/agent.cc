#include "agent/role.h"
#include "cli/command.h"

namespace mangrove::cli {

int agent(const std::vector<std::string>& args) {
  mangrove::agent::AgentRole role;
  return frame::runRole(role, args);
}

}  // namespace mangrove::cli
