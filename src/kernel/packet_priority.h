#pragma once
// Gives what the sockets of a cgroup (v2) send a priority, by which a queue of the machine's network
// device finds its class: for processes in the host's network, whose packets carry no address of
// their own. A BPF program of four instructions, attached for as long as this lives; a killed process
// leaves nothing behind. Packets that leave a network namespace lose it, so it is of no use to pods
// with a network of their own.
//
//   auto held = PacketPriority::attach("/sys/fs/cgroup/kubepods.slice/…", 0x10003);   // class 1:3
//
// Needs CAP_BPF and CAP_NET_ADMIN, kernel 5.7. Any thread.

#include <cstdint>
#include <string>

#include "base/os/fd.h"
#include "base/result.h"

namespace mangrove::kernel {

class PacketPriority {
 public:
  static Result<PacketPriority> attach(const std::string& cgroupDir, uint32_t priority);

 private:
  explicit PacketPriority(UniqueFd link) : link_(std::move(link)) {}
  UniqueFd link_;
};

}  // namespace mangrove::kernel
