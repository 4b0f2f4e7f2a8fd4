#pragma once
// The file system a container sees, built inside its own mount namespace.
//
// Contained, as nearly all are: the machine's programs and configuration (/usr, /bin, /sbin, /lib*,
// /opt, /etc less what only root may read) under a private, writable layer; empty /tmp, /run, /var,
// /root and /home of its own; a small /dev; its own /proc and a read-only /sys with the parts that
// reach into the kernel hidden; its own cgroups, read-only. Of everything else of the machine there
// is nothing. A privileged one sees the machine, with private /tmp, /run and /var/log.
//
// Nothing is made on the machine's own file systems: where a mount point is missing, the directory
// above gets a private layer. Runs in the child between clone and exec; single-threaded.

#include "base/result.h"
#include "runtime/shim/container_spec.h"

namespace mangrove::runtime {

// Builds the root at spec.scratch and moves this process into it. Call in a new mount namespace.
// `users`: the pod's user namespace, whose users own what is private; -1: the machine's.
Result<> enterStage(const ContainerSpecFile& spec, int users);

}  // namespace mangrove::runtime
