#pragma once
// The control files of both cgroup versions: what a resource is called in each, and under which
// controller v1 has it. One table, so that the rest of the tree names resources and never spells a
// file for a version.
//
//   const ControlResource* limit = findResource("memory.limit_in_bytes");
//   limit->fileOf(CgroupVersion::kV2)                   // control::kMemoryMax
//   filePath(trees, *limit, "kubepods.slice")           // nullopt: not in this version
//
// Constants; any thread.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kernel/cgroup_dir.h"
#include "kernel/hierarchies.h"

namespace mangrove::kernel {

// What a resource needs before it can be used.
enum class Support : uint8_t {
  kAlways,
  kProbe,    // the file may be missing: look at the pods' root cgroup
  kV1Probe,  // always in v2, may be missing in v1
};

struct ControlResource {
  std::string_view name;  // the v1 file name, by which everybody knows it
  Controller controller;  // v1
  std::string_view v1;    // "": not there
  std::string_view v2;    // "": not there
  Support support = Support::kAlways;

  ControlFile fileOf(CgroupVersion version) const {
    return {version == CgroupVersion::kV1 ? v1 : v2};
  }
  bool in(CgroupVersion version) const { return !fileOf(version).name.empty(); }
};

std::span<const ControlResource> controlResources();
const ControlResource* findResource(std::string_view name);

// Relative to the SysRoot.
std::optional<std::string> filePath(const Hierarchies& trees, const ControlResource& resource,
                                    std::string_view cgroup);

}  // namespace mangrove::kernel
