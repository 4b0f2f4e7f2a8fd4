#include "cli/dispatch.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <span>

#include <fmt/core.h>

#include "base/text/nearest.h"
#include "base/text/strings.h"
#include "cli/command.h"

namespace mangrove::cli {
namespace {

constexpr std::array kCommands = {
#define COMMAND(name, words, about) Command{words, about, &name},
#include "cli/commands.def"
#undef COMMAND
};

// Whether the command is one of the group's: "check node" of "check". All are of "".
bool isOf(const Command& command, std::string_view group) {
  if (command.about.empty()) return false;  // started by us, not by people
  return group.empty() || command.words == group ||
         (command.words.starts_with(group) && command.words[group.size()] == ' ');
}

bool isGroup(std::string_view word) {
  return std::any_of(kCommands.begin(), kCommands.end(), [&](const Command& command) {
    return isOf(command, word) && command.words != word;
  });
}

void printCommands(std::FILE* out, std::string_view group = "") {
  for (const auto& command : kCommands)
    if (isOf(command, group)) fmt::print(out, "  {:<16} {}\n", command.words, command.about);
  fmt::print(out, "\n'mangrove COMMAND --help' lists the flags of a command.\n");
}

void printHelp(std::FILE* out) {
  fmt::print(out,
             "mangrove: services and batch work on the same machines\n\nusage: mangrove COMMAND "
             "[FLAGS]\n\n");
  printCommands(out);
}

bool isHelp(std::string_view word) {
  return word == "help" || word == "--help" || word == "-h";
}

// How many arguments the command's words take up, 0 when it is not meant.
size_t wordsMatched(const Command& command, const std::vector<std::string>& args) {
  auto words = split(command.words, ' ');
  if (args.size() < words.size()) return 0;
  return std::equal(words.begin(), words.end(), args.begin()) ? words.size() : 0;
}

int unknown(const std::vector<std::string>& args) {
  std::vector<std::string_view> known;
  for (const auto& command : kCommands) known.push_back(command.words);
  const std::string said = join(std::span(args).first(std::min<size_t>(args.size(), 2)), " ");
  std::string hint = didYouMean(args[0], known);
  if (hint.empty()) hint = didYouMean(said, known);
  fmt::print(stderr, "mangrove: unknown command '{}'{} ('mangrove help' lists all)\n", args[0],
             hint);
  return kWrongUsage;
}

// "mangrove check": one word of two.
int chooseOf(const std::vector<std::string>& args) {
  if (args.size() > 1 && isHelp(args[1])) {
    fmt::print("mangrove {}: one of\n\n", args[0]);
    printCommands(stdout, args[0]);
    return 0;
  }
  const std::string second = args.size() > 1 ? fmt::format(" there is no '{}';", args[1]) : "";
  fmt::print(stderr, "mangrove {}:{} want one of\n\n", args[0], second);
  printCommands(stderr, args[0]);
  return kWrongUsage;
}

}  // namespace

std::span<const Command> allCommands() {
  return kCommands;
}

const Command* commandOf(std::span<const Command> commands, const std::vector<std::string>& args) {
  const auto meant =
      std::max_element(commands.begin(), commands.end(), [&](const Command& a, const Command& b) {
        return wordsMatched(a, args) < wordsMatched(b, args);
      });
  return meant != commands.end() && wordsMatched(*meant, args) > 0 ? &*meant : nullptr;
}

int dispatch(std::vector<std::string> args) {
  if (args.size() > 1 && args[0] == "help") {  // "help check node" is "check node --help"
    std::rotate(args.begin(), args.begin() + 1, args.end());
    args.back() = "--help";
  }
  if (args.empty() || isHelp(args[0])) {
    printHelp(args.empty() ? stderr : stdout);
    return args.empty() ? kWrongUsage : 0;
  }
  if (const Command* meant = commandOf(kCommands, args))
    return meant->run({args.begin() + static_cast<long>(wordsMatched(*meant, args)), args.end()});
  return isGroup(args[0]) ? chooseOf(args) : unknown(args);
}

}  // namespace mangrove::cli
