#pragma once
// How commands take their arguments and say what went wrong, one way for all.
//
//   if (const auto end = readArguments(flags, args)) return *end;
//   auto result = work();
//   if (!result) return complain(flags, result.error());     // "mangrove bench agent: …" on stderr

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "frame/flags.h"

namespace mangrove::cli {

// The exit code where there is nothing to run: 0 after --help, 2 after a mistake, which is said.
std::optional<int> readArguments(frame::Flags& flags, const std::vector<std::string>& args);
// Says it under the command's name; returns `code`.
int complain(const frame::Flags& flags, const Error& error, int code = kFailed);
int complain(std::string_view program, const Error& error, int code = kFailed);

}  // namespace mangrove::cli
