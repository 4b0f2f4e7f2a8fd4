#pragma once
// Who may read the service-account token of a pod: the users it runs as, and nobody else if that
// can be said with an owner or a group. As a kubelet does.
//
//   FileAccess access = tokenAccess(pod);   // all containers run as 1000: owner 1000, mode 0600
//
// Pure; any thread.

#include <cstdint>
#include <optional>

#include "runtime/core/pod_model.h"

namespace mangrove::runtime {

struct FileAccess {
  int mode = 0600;
  std::optional<int64_t> uid, gid;  // nullopt: whoever writes it
  bool operator==(const FileAccess&) const = default;
};
FileAccess tokenAccess(const RunPod& pod);

}  // namespace mangrove::runtime
