#pragma once
// A subcommand of the binary: one short file each, and one line in commands.def. `words` are what
// the user types ("bench client"), `run` gets the arguments after them and returns the exit code.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mangrove::cli {

struct Command {
  std::string_view words;
  std::string_view about;
  int (*run)(const std::vector<std::string>& args);
};

#define COMMAND(name, words, about) int name(const std::vector<std::string>& args);
#include "cli/commands.def"
#undef COMMAND

std::span<const Command> allCommands();

// Exit codes every command uses: 0 fine, 1 it went wrong, 2 it was called wrongly.
inline constexpr int kFailed = 1;
inline constexpr int kWrongUsage = 2;

}  // namespace mangrove::cli
