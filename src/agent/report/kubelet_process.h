#pragma once
// The kubelet as a process of this machine: where it is, and whether it is still the same one. A
// kubelet that was started anew may have another configuration.
//
//   for (const std::string& dir : kubeletDirs(root, mounts)) …      // "proc/1234"
//   KubeletProcess kubelet;
//   if (kubelet.restarted(root, mounts)) source.askAgain();         // now and then
//
// Owner thread. Where its processes cannot be seen nothing was ever restarted.

#include <string>
#include <vector>

#include "kernel/hierarchies.h"
#include "kernel/sys_root.h"

namespace mangrove::agent {

std::vector<std::string> kubeletDirs(const kernel::SysRoot& root, const kernel::Mounts& mounts);

class KubeletProcess {
 public:
  // True once for each start after the first one that was seen. One small file is read while the
  // same kubelet runs, otherwise the command line of every process.
  bool restarted(const kernel::SysRoot& root, const kernel::Mounts& mounts);

 private:
  std::string dir_;      // "": not running as far as we know
  std::string started_;  // of the one seen last, in the kernel's ticks since boot
};

}  // namespace mangrove::agent
