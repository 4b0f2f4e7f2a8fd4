#pragma once
// The three levels of the Pod Security Standards, by version: which pods keep to them. Pure.
//
//   for (const auto& v : violations({Level::kBaseline}, metadata, spec)) say(v.reason, v.detail);
//   // "host namespaces", "hostNetwork=true"
//
// A level of version 1.N is what Kubernetes 1.N meant by it, so that a namespace can stay with what
// it was checked against.

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace mangrove::apiserver::pod_security {

enum class Level { kPrivileged, kBaseline, kRestricted };
std::optional<Level> parseLevel(std::string_view text);
const char* levelName(Level level);

inline constexpr int kLatest = std::numeric_limits<int>::max();
// "latest" or "v1.N"; nullopt otherwise.
std::optional<int> parseVersion(std::string_view text);

struct LevelVersion {
  Level level = Level::kPrivileged;
  int minor = kLatest;
  std::string text() const;  // "baseline:latest", "restricted:v1.25"
  bool operator==(const LevelVersion&) const = default;
};

struct Violation {
  std::string reason;  // what kind of rule
  std::string detail;  // who breaks it, and what would be right
};
std::vector<Violation> violations(const LevelVersion& level, const json::Object& metadata,
                                  const json::Object& spec);
// "host namespaces (hostNetwork=true), privileged (container "a" must not set …)"
std::string describe(const std::vector<Violation>& violations);

}  // namespace mangrove::apiserver::pod_security
