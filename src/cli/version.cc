#include "frame/version.h"

#include <fmt/core.h>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/usage.h"
#include "frame/flags.h"

namespace mangrove::cli {

int version(const std::vector<std::string>& args) {
  bool json = false;
  Output output;
  frame::Flags flags("mangrove version", "says what this binary is");
  flags.add("json", json, "the same as -o json");
  output.declare(flags);
  if (const auto end = readArguments(flags, args)) return *end;
  if (json) output.set(Format::kJson);
  output.show(frame::versionJson(), frame::versionLine());
  return 0;
}

}  // namespace mangrove::cli
