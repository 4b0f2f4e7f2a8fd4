#include "frame/version.h"

#include <fmt/core.h>

#include "cli/command.h"
#include "frame/flags.h"

namespace mangrove::cli {

int version(const std::vector<std::string>& args) {
  bool json = false;
  frame::Flags flags("mangrove version", "says what this binary is");
  flags.add("json", json, "as JSON");
  auto go = flags.parse(args);
  if (!go) {
    fmt::print(stderr, "mangrove version: {}\n", go.error().text());
    return kWrongUsage;
  }
  if (*go) fmt::print("{}\n", json ? frame::versionJson() : frame::versionLine());
  return 0;
}

}  // namespace mangrove::cli
