// What the node runner starts for each pod, and what stands in for an image nobody has. Not for
// people, so the help does not show them.
#include <csignal>
#include <cstdio>

#include <fmt/core.h>
#include <unistd.h>

#include "base/text/strings.h"
#include "cli/command.h"
#include "cli/usage.h"
#include "frame/flags.h"
#include "runtime/shim/shim.h"

namespace mangrove::cli {

static frame::Flags::Setter sysctlsInto(runtime::ShimOptions& options) {
  return [&options](std::string_view text) -> Result<> {
    const Halves parts = cut(text, '=');
    options.sysctls.emplace_back(parts.before, parts.after);
    return {};
  };
}

int podShim(const std::vector<std::string>& args) {
  runtime::ShimOptions options;
  int64_t listenFd = -1;
  frame::Flags flags("mangrove pod-shim", "parent of one pod's containers; started by mangrove up");
  flags.add("dir", options.dir, "directory of the pod");
  flags.add("hostname", options.hostname, "of the pod");
  flags.add("listen-fd", listenFd, "inherited socket to listen on");
  flags.add("own-network", options.ownNetwork, "a network namespace");
  flags.add("own-user", options.ownUser, "a user namespace around the others");
  flags.add("first-user", options.firstUser, "of the machine's users that stand for the pod's");
  flags.add("own-ipc", options.ownIpc, "IPC and UTS namespaces");
  flags.add("sysctl", sysctlsInto(options), "", "NAME=VALUE of its namespaces; several times");
  if (const auto end = readArguments(flags, args)) return *end;
  options.listenFd = static_cast<int>(listenFd);
  return runtime::runShim(options);
}

int standIn(const std::vector<std::string>&) {
  fmt::print(
      "stand-in: this container's image has no command and no program of its name is "
      "installed on this machine\n");
  std::fflush(stdout);
  std::signal(SIGTERM, [](int) { ::_exit(0); });
  std::signal(SIGINT, [](int) { ::_exit(0); });
  for (;;) ::pause();
}

}  // namespace mangrove::cli
