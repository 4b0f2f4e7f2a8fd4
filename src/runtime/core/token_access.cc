#include "runtime/core/token_access.h"

#include <set>

namespace mangrove::runtime {

FileAccess tokenAccess(const RunPod& pod) {
  std::set<std::optional<int64_t>> users;
  for (const auto& one : containersOf(pod))
    users.insert(one.run->security.runAsUser ? one.run->security.runAsUser
                                             : pod.run.security.runAsUser);
  FileAccess access;
  access.gid = pod.run.security.fsGroup;
  if (users.size() == 1) access.uid = *users.begin();
  if (access.gid) access.mode = 0640;
  if (users.size() > 1 && !access.gid) access.mode = 0644;  // no one owner and no group for them
  return access;
}

}  // namespace mangrove::runtime
