// mangrove completion, complete and man: the commands for shells and for man(1).
#include <array>
#include <cstdio>

#include <fmt/core.h>
#include <unistd.h>

#include "cli/manual.h"
#include "cli/usage.h"
#include "frame/flags.h"
#include "frame/version.h"

namespace mangrove::cli {
namespace {

// Asks ourselves: each command knows its flags only when it runs.
std::string helpOf(std::string_view command) {
  std::array<char, 4096> self{};
  const ssize_t length = ::readlink("/proc/self/exe", self.data(), self.size() - 1);
  if (length <= 0) return "";
  const auto line = fmt::format("'{}' {} --help 2>/dev/null", self.data(), command);
  std::FILE* pipe = ::popen(line.c_str(), "r");
  if (pipe == nullptr) return "";
  std::string text;
  std::array<char, 4096> piece{};
  for (size_t n; (n = std::fread(piece.data(), 1, piece.size(), pipe)) > 0;)
    text.append(piece.data(), n);
  ::pclose(pipe);
  return text;
}

}  // namespace

int completion(const std::vector<std::string>& args) {
  std::vector<std::string> shells;
  frame::Flags flags("mangrove completion", "prints words for the shell: source <(mangrove …)");
  flags.positionals("SHELL", shells, "bash, zsh or fish");
  if (const auto end = readArguments(flags, args)) return *end;
  const auto script = shells.size() == 1 ? completionScript(shells[0]) : "";
  if (script.empty()) {
    fmt::print(stderr, "mangrove completion: want one of bash, zsh, fish\n");
    return kWrongUsage;
  }
  fmt::print("{}", script);
  return 0;
}

int complete(const std::vector<std::string>& args) {
  std::vector<std::string> words = args;
  if (!words.empty() && words[0] == "--") words.erase(words.begin());
  for (const auto& word : candidates(allCommands(), words, helpOf)) fmt::print("{}\n", word);
  return 0;
}

std::vector<ManualEntry> allEntries() {
  std::vector<ManualEntry> entries;
  for (const auto& command : allCommands())
    if (!command.about.empty())
      entries.push_back({std::string(command.words), std::string(command.about),
                         readHelp(helpOf(command.words))});
  return entries;
}

// Asked for its own --help by the page itself, it must not begin another page.
int man(const std::vector<std::string>& args) {
  frame::Flags flags("mangrove man", "prints this manual as a man page");
  if (const auto end = readArguments(flags, args)) return *end;
  fmt::print("{}", manPage(frame::version(), allEntries()));
  return 0;
}

}  // namespace mangrove::cli
