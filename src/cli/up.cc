#include "up/up.h"

#include "cli/command.h"

namespace mangrove::cli {

int up(const std::vector<std::string>& args) {
  mangrove::up::UpRole role;
  return frame::runRole(role, args);
}

}  // namespace mangrove::cli
