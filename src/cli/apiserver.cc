#include "apiserver/role.h"
#include "cli/command.h"

namespace mangrove::cli {

int apiserver(const std::vector<std::string>& args) {
  mangrove::apiserver::ApiServerRole role;
  return frame::runRole(role, args);
}

}  // namespace mangrove::cli
