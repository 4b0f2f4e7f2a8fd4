#pragma once
// Disk space that a pod may use here: the size limits of its empty directories, and the
// ephemeral-storage limits of its containers, which count what they write into their own files and
// their logs. Pure; whoever measures decides how often.

#include <map>
#include <optional>
#include <string>

#include "runtime/core/pod_model.h"

namespace mangrove::runtime {

struct StorageUse {
  std::map<std::string, int64_t, std::less<>> volumes;     // bytes, by the volume's name
  std::map<std::string, int64_t, std::less<>> containers;  // bytes, by the container's name
};

// Whether there is anything to measure.
bool hasStorageLimits(const RunPod& pod);
// Why the pod must be evicted, in a kubelet's words; nullopt: it keeps to its limits.
std::optional<std::string> storageTrouble(const RunPod& pod, const StorageUse& use);

}  // namespace mangrove::runtime
