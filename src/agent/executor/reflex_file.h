#pragma once
// How those who cannot wait for the tick (sentinel, give-back, guardian) touch a control file: by
// the executor's rules of who may and how it is written, and only to narrow it. Widening is the
// executor's, which sees what a reflex holds as a wish among others.
//
//   auto quota = ReflexFile::open(root, path, {"cpu.cfs_quota_us", owner::kPressure, version});
//   quota->narrow(50000, quota->present());      // one read, one write through a kept descriptor
//
// A value; one thread at a time.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "agent/executor/value.h"
#include "kernel/file.h"
#include "kernel/sys_root.h"

namespace mangrove::agent {

struct ReflexClaim {
  std::string_view resource;  // the v1 name
  std::string_view owner;
  kernel::CgroupVersion version = kernel::CgroupVersion::kV1;
};

class ReflexFile {
 public:
  // kDenied for an owner that may not want this file; kNotFound when it is not there.
  static Result<ReflexFile> open(const kernel::SysRoot& root, const std::string& path,
                                 const ReflexClaim& claim);

  // kUnlimited included; nullopt: gone, or not readable.
  std::optional<int64_t> present() const;
  // `has`: what was read just now; nullopt: not known, then it is written. False: it has no more
  // than that already.
  Result<bool> narrow(int64_t most, std::optional<int64_t> has) const;

 private:
  ReflexFile(kernel::File file, const FileRule& rule, kernel::CgroupVersion version)
      : file_(std::move(file)), rule_(&rule), version_(version) {}

  kernel::File file_;
  const FileRule* rule_;
  kernel::CgroupVersion version_;
};

}  // namespace mangrove::agent
