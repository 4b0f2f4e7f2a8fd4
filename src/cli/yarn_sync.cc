#include "cli/command.h"
#include "yarn/role.h"

namespace mangrove::cli {

int yarnSync(const std::vector<std::string>& args) {
  yarn::YarnSyncRole role;
  return frame::runRole(role, args);
}

}  // namespace mangrove::cli
