#pragma once
// What the agent and its guardian agreed on: a small file in which the agent says at every tick
// that it lives and which limit best-effort work gets if it does not. The guardian's decision is a
// pure function of the last beat and the time.
//
//   HeartbeatFile file(path);               // the agent
//   file.beat({now, "sys/…/cpu.cfs_quota_us", 250000, CgroupVersion::kV1});
//   file.bye();                             // a clean end: there is nothing to guard any more
//   auto beat = readHeartbeat(path);        // the guardian
//
// Times are CLOCK_MONOTONIC, which all processes of a machine share.

#include <optional>
#include <string>
#include <string_view>

#include "agent/executor/value.h"
#include "base/number/units.h"
#include "base/os/fd.h"
#include "base/result.h"

namespace mangrove::agent {

struct Heartbeat {
  MonoTime at{};
  std::string quotaFile;      // below the root; "": nothing to guard
  int64_t safe = kUnlimited;  // quota of the best-effort group
  kernel::CgroupVersion version = kernel::CgroupVersion::kV1;
  bool bye = false;
  // memory.high (v2) or memory.limit_in_bytes (v1) of the group, and what it may have at most; "":
  // memory is not guarded.
  std::string memoryFile = {};
  int64_t memory = kUnlimited;
  int64_t memoryBefore = kUnlimited;  // what a successor goes back to
  bool operator==(const Heartbeat&) const = default;
};
std::string formatHeartbeat(const Heartbeat& beat);
Result<Heartbeat> parseHeartbeat(std::string_view text);
Result<Heartbeat> readHeartbeat(const std::string& path);

// Whether best-effort work must be put on the safe limit now. `closed`: the pipe to the agent is.
bool mustGuard(const Heartbeat& last, MonoTime now, bool closed, Duration patience);

class HeartbeatFile {
 public:
  explicit HeartbeatFile(std::string path) : path_(std::move(path)) {}
  Result<> beat(const Heartbeat& beat);
  Result<> bye();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  UniqueFd fd_;
};

}  // namespace mangrove::agent
