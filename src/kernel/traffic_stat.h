#pragma once
// What went to disks and over the network: totals of a cgroup and of a network namespace.
//
//   parseIoServed("8:0 rbytes=4096 wbytes=0 …", CgroupVersion::kV2)     // 4096
//   parseTcpSegments(textOf("/proc/42/net/snmp"))->again                // sent again
//
// Pure, no allocation.

#include <cstdint>
#include <optional>
#include <string_view>

#include "kernel/cgroup_version.h"

namespace mangrove::kernel {

// Bytes read and written on all devices: the row Total of blkio.throttle.io_service_bytes, the sum of
// rbytes and wbytes of io.stat. A file without a row is zero; nullopt: it says something else.
std::optional<uint64_t> parseIoServed(std::string_view text, CgroupVersion version);

// TCP segments since boot of a network namespace (/proc/net/snmp).
struct TcpSegments {
  uint64_t sent = 0, again = 0;
  bool operator==(const TcpSegments&) const = default;
};
std::optional<TcpSegments> parseTcpSegments(std::string_view text);

}  // namespace mangrove::kernel
