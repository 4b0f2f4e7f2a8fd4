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
    Command{"up", "a whole colocated machine in one process: API, node runner, roles", &up},
    Command{"demo", "what colocation brings and costs on this machine, measured", &demo},
    Command{"report", "what colocation costs a service on a running system", &report},
    Command{"run", "any command as a colocated pod of this machine", &run},
    Command{"agent guardian", "steps in when the agent of this node dies or hangs", &agentGuardian},
    Command{"agent", "measures this node, reports it and limits best-effort work", &agent},
    Command{"manager", "decides what nodes have for sale", &manager},
    Command{"scheduler", "gives pods their nodes", &scheduler},
    Command{"apiserver", "a Kubernetes API from one directory, for one machine", &apiserver},
    Command{"top", "nodes, pods, classes, budget and pressure, live", &top},
    Command{"explain node", "how the amounts a node sells came to be", &explainNode},
    Command{"explain pod", "why a pod is where it is, or nowhere", &explainPod},
    Command{"explain", "-f FILE: where a pod would go that does not exist", &explainManifest},
    Command{"check config", "what is wrong with a slo-controller-config", &checkConfig},
    Command{"check cluster", "whether colocation works on a cluster, and what is in its way",
            &checkCluster},
    Command{"check node", "what this machine offers to colocation", &checkNode},
    Command{"check pod", "how pod manifests are read, and what admission would refuse", &checkPod},
    Command{"migrate check", "what would change on a cluster that runs Koordinator", &migrateCheck},
    Command{"migrate off", "takes away what is left on a cluster when our roles are gone",
            &migrateOff},
    Command{"support-bundle", "what is needed to help, in one folder, without secrets",
            &supportBundle},
    Command{"bench agent", "what the node agent costs, with real cgroups", &benchAgent},
    Command{"bench api", "what an API server can do: ours, or any other one", &benchApi},
    Command{"bench client", "time and memory of listing and watching many pods", &benchClient},
    Command{"bench manager", "a large cluster, a fresh manager, and its cost", &benchManager},
    Command{"bench impact", "what batch work does to a service, placed in several ways",
            &benchImpact},
    Command{"bench memory", "how memory comes back from batch work, rung by rung", &benchMemory},
    Command{"bench react", "how fast batch work is cut when a service waits", &benchReact},
    Command{"bench scheduler", "speed of scheduling decisions", &benchScheduler},
    Command{"bench webhook", "how fast and how clearly admission answers", &benchWebhook},
    Command{"completion", "words for the shell: bash, zsh or fish", &completion},
    Command{"man", "this manual as a man page", &man},
    Command{"docs", "", &docs},
    Command{"complete", "", &complete},
    Command{"demo-part", "", &demoPart},
    Command{"pod-shim", "", &podShim},
    Command{"stand-in", "", &standIn},
    Command{"version", "what this binary is", &version},
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

int dispatch(std::vector<std::string> args) {
  if (args.size() > 1 && args[0] == "help") {  // "help check node" is "check node --help"
    std::rotate(args.begin(), args.begin() + 1, args.end());
    args.back() = "--help";
  }
  if (args.empty() || isHelp(args[0])) {
    printHelp(args.empty() ? stderr : stdout);
    return args.empty() ? kWrongUsage : 0;
  }
  for (const auto& command : kCommands) {
    if (size_t n = wordsMatched(command, args))
      return command.run({args.begin() + static_cast<long>(n), args.end()});
  }
  return isGroup(args[0]) ? chooseOf(args) : unknown(args);
}

}  // namespace

std::span<const Command> allCommands() {
  return kCommands;
}

}  // namespace mangrove::cli

int main(int argc, char** argv) {
  return mangrove::cli::dispatch({argv + 1, argv + argc});
}
