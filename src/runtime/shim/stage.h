#pragma once
// The file system a container sees, built inside its own mount namespace: the machine's root, with
// private /tmp, /run and /var/log, a /dev and /proc of its own, and the pod's volumes. Nothing is
// made on the machine's own file systems for it: where a mount point is missing, the directory
// above gets an overlay whose upper layer is scratch.
//
// Runs in the child between clone and exec; single-threaded. The pure part is planStage.

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/shim/container_spec.h"

namespace mangrove::runtime {

// Where mount points must be made: for each mount in order the directory that needs an overlay
// first; "" when the mount point exists or can simply be made.
struct StagePoint {
  std::string overlay;  // "/etc" for a mount at "/etc/app/config" when the machine has no /etc/app
  bool operator==(const StagePoint&) const = default;
};
// `exists` looks at the machine. Directories in `writable` (and everything at the top) belong to
// the container alone, so mount points can be made there.
std::vector<StagePoint> planStage(const std::vector<MountSpec>& mounts,
                                  const std::vector<std::string>& writable,
                                  const std::function<bool(const std::string&)>& exists);

// Builds the root at spec.scratch and moves this process into it. Call in a new mount namespace.
Result<> enterStage(const ContainerSpecFile& spec);

}  // namespace mangrove::runtime
