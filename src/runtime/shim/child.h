#pragma once
// Becoming a container: what the child of a shim does between clone and exec. Never returns; what
// goes wrong is written to a pipe as one sentence, and the child ends with 128.
//
// Single-threaded parents only: the child of a clone without exec may then do what it likes.

#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/os/fd.h"
#include "base/result.h"
#include "runtime/shim/container_spec.h"

namespace mangrove::runtime {

// The child's first three descriptors; with a terminal all three are `in`.
struct Stdio {
  int in = -1, out = -1, err = -1;
  bool tty = false;
};

struct Started {
  pid_t pid = -1;
  UniqueFd trouble;  // readable: a sentence why it could not start, or nothing once exec worked
};

// A new container: namespaces as the spec says. `pidsOf`: it sees the processes that this process
// sees; -1: its own only. `users`: the pod's user namespace; -1: the machine's.
Result<Started> startContainer(const ContainerSpecFile& spec, const Stdio& stdio, pid_t pidsOf = -1,
                               int users = -1);
// The first process of a PID namespace that several containers share: waits, and buries orphans.
// Dies with its parent.
Result<pid_t> startPidKeeper();
// One more process in the container whose first process is `into`.
Result<Started> startExec(const ContainerSpecFile& spec, pid_t into,
                          const std::vector<std::string>& argv, const Stdio& stdio, int users = -1);

}  // namespace mangrove::runtime
