#include "frame/version.h"

#include <fmt/core.h>

#include "cli/command.h"
#include "cli/output.h"
#include "frame/flags.h"

namespace mangrove::cli {

int version(const std::vector<std::string>& args) {
  bool json = false;
  Output output;
  frame::Flags flags("mangrove version", "says what this binary is");
  flags.add("json", json, "the same as -o json");
  output.declare(flags);
  auto go = flags.parse(args);
  if (!go) {
    fmt::print(stderr, "mangrove version: {}\n", go.error().text());
    return kWrongUsage;
  }
  if (!*go) return 0;
  if (json) output.set(Format::kJson);
  output.show(frame::versionJson(), frame::versionLine());
  return 0;
}

}  // namespace mangrove::cli
