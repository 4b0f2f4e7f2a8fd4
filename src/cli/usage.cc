#include "cli/usage.h"

#include <fmt/core.h>

namespace mangrove::cli {

std::optional<int> readArguments(frame::Flags& flags, const std::vector<std::string>& args) {
  const auto go = flags.parse(args);
  if (!go) return complain(flags, go.error(), kWrongUsage);
  return *go ? std::nullopt : std::optional(0);
}

int complain(const frame::Flags& flags, const Error& error, int code) {
  return complain(flags.program(), error, code);
}

int complain(std::string_view program, const Error& error, int code) {
  fmt::print(stderr, "{}: {}\n", program, error.text());
  return code;
}

}  // namespace mangrove::cli
