#pragma once
// The shim: one small process per pod that holds the pod's namespaces, is the parent of its
// containers, writes their logs and remembers how they ended. It outlives the runner; a runner that
// comes back finds it by its socket and goes on.
//
//   mangrove pod-shim --dir DIR        # DIR/shim.sock is listened on, DIR/state/*.json are exits
//
// Ends when told to, or by itself when no container runs and nobody has been connected for a while.

#include <string>
#include <utility>
#include <vector>

namespace mangrove::runtime {

struct ShimOptions {
  std::string dir;
  std::string hostname;     // of the pod's UTS namespace
  int listenFd = -1;        // inherited; -1: listen on DIR/shim.sock
  bool ownNetwork = false;  // a network namespace
  bool ownIpc = false;      // IPC and UTS namespaces
  bool ownUser = false;     // a user namespace first, so that the others need no root
  std::vector<std::pair<std::string, std::string>> sysctls;  // of its namespaces: name, value
  int64_t firstUser = 0;  // root: of the machine's users who stand for the pod's; 0: the same
};

// Returns the process's exit code.
int runShim(const ShimOptions& options);

}  // namespace mangrove::runtime
