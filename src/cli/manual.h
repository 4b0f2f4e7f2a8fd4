#pragma once
// What the commands say of themselves, for other readers than people at a prompt: shells that
// complete words, and man(1).
//
//   std::vector<HelpFlag> flags = readHelp(textOfHelp);        // {"--kubeconfig", "file with …"}
//
// Pure functions.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace mangrove::cli {

struct HelpFlag {
  std::string name;          // "--data-dir"
  std::string defaultValue;  // as --help shows it; may be ""
  std::string about;
};
// The options of a --help text.
std::vector<HelpFlag> readHelp(std::string_view text);

// What may come next after these words: commands' next words, or flags of the command they name.
// `helpOf` returns the --help text of a command.
std::vector<std::string> candidates(std::span<const Command> commands,
                                    const std::vector<std::string>& words,
                                    std::string (*helpOf)(std::string_view command));

struct ManualEntry {
  std::string command;
  std::string about;
  std::vector<HelpFlag> flags;
};
// Every command that people type, with its flags; asks each of them for its --help.
std::vector<ManualEntry> allEntries();
// docs/commands.md.
std::string commandReference(const std::vector<ManualEntry>& entries);
// A page in man(7)'s language.
std::string manPage(std::string_view version, const std::vector<ManualEntry>& entries);

// A script for that shell which asks `mangrove complete`; "" for a shell we do not know.
std::string_view completionScript(std::string_view shell);

}  // namespace mangrove::cli
