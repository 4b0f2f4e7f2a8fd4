#pragma once
// `mangrove run`: any command as a pod of this machine, for somebody without Kubernetes. What it
// becomes is a pure function; running it is the command's part (cli/run.cc).

#include <string>
#include <vector>

#include "base/result.h"
#include "json/value.h"

namespace mangrove::up {

// The runner sends the signal of a new value ("NUMBER.COUNT") to the pod's containers.
inline constexpr std::string_view kSignalAnnotation = "mangrove.io/signal";

struct RunRequest {
  std::string name;
  std::string ns = "default";
  std::string qos = "BE";  // LSE, LSR, LS or BE
  std::string cpu, memory;
  std::vector<std::string> command;
  std::string environmentFile;  // of the caller, mode 0600; never in the pod itself
  std::string directory;        // where it runs
  int64_t uid = 0, gid = 0;
};

// Best effort asks for reclaimed resources, the others for the machine's own. The command has the
// caller's files, user, network and environment, and no capability beyond those of a container. kInvalid names what does not fit.
Result<json::Object> podOf(const RunRequest& request);

}  // namespace mangrove::up
