// mangrove docs config|commands: the reference pages of docs/, written from the code by
// scripts/reference. Hidden: people read the pages.
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/config_reference.h"
#include "cli/manual.h"

namespace mangrove::cli {

int docs(const std::vector<std::string>& args) {
  const std::string topic = args.size() == 1 ? args[0] : "";
  if (topic != "config" && topic != "commands") {
    fmt::print(stderr, "mangrove docs: want one of config, commands\n");
    return kWrongUsage;
  }
  fmt::print("{}", topic == "config" ? configReference() : commandReference(allEntries()));
  return 0;
}

}  // namespace mangrove::cli
