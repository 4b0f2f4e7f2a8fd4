#include "cli/command.h"
#include "scheduler/role.h"

namespace mangrove::cli {

namespace {

// Charts of the reference name a port where we take an address.
std::vector<std::string> withAddress(std::vector<std::string> args) {
  constexpr std::string_view kPort = "--port";
  for (size_t i = 0; i < args.size(); i++) {
    if (args[i] == kPort && i + 1 < args.size()) {
      args[i] = "--metrics-bind-address";
      args[i + 1] = ":" + args[i + 1];
    } else if (args[i].starts_with("--port=")) {
      args[i] = "--metrics-bind-address=:" + args[i].substr(kPort.size() + 1);
    }
  }
  return args;
}

}  // namespace

int scheduler(const std::vector<std::string>& args) {
  mangrove::scheduler::SchedulerRole role;
  return frame::runRole(role, withAddress(args));
}

}  // namespace mangrove::cli
