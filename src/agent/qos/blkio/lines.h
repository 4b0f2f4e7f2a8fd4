#pragma once
// Block I/O settings of one device as lines of control files. Pure functions, any thread.
//
//   BlkioLines lines = blkioLines(block.ioConfig, "253:16");
//   lines.group["blkio.throttle.read_bps_device"]        // "253:16 1048576"

#include <map>
#include <string>
#include <string_view>

#include "api/koordinator/resource_qos.h"

namespace mangrove::agent {

// File (v1 name) to line.
struct BlkioLines {
  std::map<std::string_view, std::string> group;  // best-effort or pod directory
  std::map<std::string_view, std::string> root;   // root of the blkio tree
};
BlkioLines blkioLines(const api::IoConfig& config, std::string_view device);
// What makes the device unlimited again.
BlkioLines blkioReset(std::string_view device);

// The same for cgroup v2: file to line ("253:16 rbps=max …").
struct IoLines {
  std::map<std::string_view, std::string> group;  // io.max, io.weight
  std::map<std::string_view, std::string> root;   // io.cost.qos, io.cost.model
};
// Where the kernel has no cost model: the latency that groups of services are promised, the shorter
// of the two; who is not promised any waits first. "253:16 target=1000".
std::string latencyLine(const api::IoConfig& config, std::string_view device);
IoLines ioLines(const api::IoConfig& config, std::string_view device);

}  // namespace mangrove::agent
