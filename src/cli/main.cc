#include <algorithm>
#include <array>
#include <cstdio>
#include <span>

#include <fmt/core.h>

#include "base/nearest.h"
#include "base/strings.h"
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

void printHelp(std::FILE* out) {
  fmt::print(out,
             "mangrove: services and batch work on the same machines\n\nusage: mangrove COMMAND "
             "[FLAGS]\n\n");
  for (const auto& command : kCommands) {
    if (command.about.empty()) continue;  // started by us, not by people
    fmt::print(out, "  {:<16} {}\n", command.words, command.about);
  }
  fmt::print(out, "\n'mangrove COMMAND --help' lists the flags of a command.\n");
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

int dispatch(const std::vector<std::string>& args) {
  if (args.empty()) {
    printHelp(stderr);
    return kWrongUsage;
  }
  if (args[0] == "help" || args[0] == "--help" || args[0] == "-h") {
    printHelp(stdout);
    return 0;
  }
  for (const auto& command : kCommands) {
    if (size_t n = wordsMatched(command, args))
      return command.run({args.begin() + static_cast<long>(n), args.end()});
  }
  return unknown(args);
}

}  // namespace

std::span<const Command> allCommands() {
  return kCommands;
}

}  // namespace mangrove::cli

int main(int argc, char** argv) {
  return mangrove::cli::dispatch({argv + 1, argv + argc});
}
