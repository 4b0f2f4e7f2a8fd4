#pragma once
// From the words a user typed to the command that is meant.

#include <span>
#include <string>
#include <vector>

#include "cli/command.h"

namespace mangrove::cli {

// Runs the command or says what could have been meant; returns the exit code.
int dispatch(std::vector<std::string> args);

// The one whose words begin the arguments, the longest such; null: none. Pure.
const Command* commandOf(std::span<const Command> commands, const std::vector<std::string>& args);

}  // namespace mangrove::cli
