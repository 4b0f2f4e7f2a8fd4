#pragma once
// A pod's volumes on this machine, below its directory: empty directories, host paths, and files
// from ConfigMaps, Secrets, tokens and the pod itself. Blocking; one thread per pod.
//
// Files are laid out as a kubelet does: the content in a directory of its own, "..data" pointing at
// it, and one link per name, so that a new content appears at once.

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/node/node_facts.h"
#include "runtime/node/volumes/config_source.h"

namespace mangrove::runtime {

struct ReadyVolume {
  std::string path;  // on this machine
  bool isFile = false;
  bool readOnly = false;
};
using ReadyVolumes = std::map<std::string, ReadyVolume>;  // by the volume's name

// Makes what is missing; errors are worded as a kubelet's FailedMount.
Result<ReadyVolumes> makeVolumes(const RunPod& pod, const NodeFacts& node,
                                 const DownwardFacts& facts, ConfigSource& source);
// Writes the files again when they have changed; true then.
Result<bool> writeFiles(const std::string& dir, const Files& files, int defaultMode, WallTime now);
// What begins the names of mounts that show a part of a volume to a container runtime, beside the
// volumes; no volume's name has a dot.
inline constexpr std::string_view kPartPrefix = "sub.";
// Gives back what needs more than deleting files: memory-backed directories and those mounts, behind
// which may be files that are not the pod's.
void releaseVolumes(const std::string& podDir);

}  // namespace mangrove::runtime
