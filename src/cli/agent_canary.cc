// mangrove agent canary: whether the idle class and quotas do anything on this machine, once or for
// the agent that started it.
#include <csignal>
#include <cstdio>
#include <thread>

#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include "agent/canary/keeper.h"
#include "agent/executor/canary_cell.h"
#include "agent/machine.h"
#include "base/clock.h"
#include "cli/command.h"
#include "cli/usage.h"
#include "frame/flags.h"

namespace mangrove::cli {
namespace {

volatile std::sig_atomic_t ended = 0;

// Until the time is over, a signal came, or nobody reads any more.
bool rest(Duration length) {
  const MonoTime until = realClock().mono() + length;
  while (ended == 0 && realClock().mono() < until) {
    pollfd out{STDOUT_FILENO, 0, 0};
    if (::poll(&out, 1, 200) > 0 && (out.revents & (POLLERR | POLLHUP)) != 0) return false;
  }
  return ended == 0;
}

std::string verdictOf(const agent::CanaryRound& round) {
  std::string out;
  for (const auto& [knob, why] : agent::judged(round))
    out += fmt::format("{}: {}\n", knob, why.empty() ? "works" : why);
  if (!round.trouble.empty()) out += fmt::format("not tried: {}\n", round.trouble);
  return out;
}

}  // namespace

int agentCanary(const std::vector<std::string>& args) {
  std::string root = "/";
  bool once = false;
  frame::Flags flags(
      "mangrove agent canary",
      "tries whether the kernel's idle class and CPU quotas have their effect (needs "
      "root); the agent starts it with the gate IsolationCanary");
  flags.add("root", root, "directory under which the machine's cgroups are");
  flags.add("once", once, "one round, in words");
  if (const auto end = readArguments(flags, args)) return *end;
  for (const int signal : {SIGTERM, SIGINT}) std::signal(signal, [](int) { ended = 1; });
  std::signal(SIGPIPE, SIG_IGN);
  const kernel::SysRoot machine(root);
  auto cell = agent::CanaryCell::make(machine, agent::liveMachine(root).mounts,
                                      fmt::format("mangrove-canary-{}", ::getpid()));
  if (!cell) return complain(flags, cell.error());
  if (once) {
    const agent::CanaryRound round = cell->round();
    fmt::print("{}{}\n", verdictOf(round), agent::roundText(round));
    return 0;
  }
  do {
    fmt::print("{}\n", agent::roundText(cell->round()));
    if (std::fflush(stdout) != 0) break;
  } while (rest(agent::CanaryKeeper::kEvery));
  return 0;
}

}  // namespace mangrove::cli
