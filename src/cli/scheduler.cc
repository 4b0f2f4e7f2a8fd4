#include "cli/command.h"
#include "scheduler/role.h"

namespace mangrove::cli {

int scheduler(const std::vector<std::string>& args) {
  mangrove::scheduler::SchedulerRole role;
  return frame::runRole(role, args);
}

}  // namespace mangrove::cli
