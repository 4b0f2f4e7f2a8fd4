#pragma once
// What of the machine a container sees and where its own things go, before anything is mounted.
//
//   planStage(spec.mounts, {"/tmp", "/dev"}, exists)
//   mountsAmongPrograms(*readFile("/proc/self/mountinfo"), spec.dataDir)    // {"/opt", "/usr/local"}
//
// Pure functions, any thread.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/shim/container_spec.h"

namespace mangrove::runtime {

// "/a/b" is within "/a", "/a/b" and "/".
bool within(const std::string& path, const std::string& dir);
// A directory of the top of which contained containers see a copy: usr, lib64, etc, …
bool isProgramFolder(const std::string& name);

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

// Where the machine mounts other file systems among the programs that containers see (/usr/local, a
// folder of drivers, …), outer ones first. `mountinfo` as /proc/self/mountinfo has it; nothing below
// `hidden` ("": nothing is hidden).
std::vector<std::string> mountsAmongPrograms(std::string_view mountinfo, const std::string& hidden);

}  // namespace mangrove::runtime
