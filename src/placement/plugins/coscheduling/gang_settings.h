#pragma once
// What a gang is told by its first pod (annotations, or labels of an older way) or by its PodGroup:
// how many members must start together, how long they wait for each other, which gangs go
// together. What cannot be read falls back to a default that is said here; only a minimum has none.
//
//   if (auto settings = settingsOf(pod, args)) …      // nullopt: this pod says nothing about it
//   settings->groupId                                 // "ns/a,ns/b"
//
// Pure functions, any thread.

#include <optional>
#include <string>
#include <vector>

#include "api/annotations/gang.h"
#include "api/koordinator/pod_group.h"
#include "api/pod/pod.h"
#include "base/result.h"
#include "json/value.h"
#include "placement/plugins/coscheduling/kept_nodes.h"

namespace mangrove::placement {

struct GangArgs {
  Duration defaultTimeout = std::chrono::seconds(600);  // Koordinator's default
  api::GangMatchPolicy defaultMatchPolicy = api::GangMatchPolicy::kOnceSatisfied;
  bool enablePreemption = false;
  bool awareNetworkTopology = false;
  // Ours: strict groups get their places in one transaction. False: member by member, waiting at
  // Permit, as the reference does it.
  bool placeWhole = true;
  BackfillArgs backfill;
};
Result<GangArgs> readGangArgs(const json::Value& value);

struct GangSettings {
  int32_t min = 0;
  int32_t total = 0;  // at least min; informational
  api::GangMode mode = api::GangMode::kStrict;
  api::GangMatchPolicy policy = api::GangMatchPolicy::kOnceSatisfied;
  Duration wait{};
  std::vector<std::string> groups;  // ids of the gangs that go together, sorted, itself included
  std::string groupId;              // the same joined by ","
  bool fromObject = false;          // a PodGroup says so
  WallTime created = kZeroTime;
  std::optional<api::NetworkTopologySpec> network;  // where members want to stand
  bool operator==(const GangSettings&) const = default;
};

// "ns/name"; "" when the pod is in no gang.
std::string gangIdOf(const api::Pod& pod);
// The pod's gang is described by a PodGroup, never by the pod.
bool isByObject(const api::Pod& pod);
std::optional<GangSettings> settingsOf(const api::Pod& pod, const GangArgs& args);
GangSettings settingsOf(const api::PodGroup& group, const GangArgs& args);

std::string_view policyName(api::GangMatchPolicy policy);
std::string_view modeName(api::GangMode mode);

}  // namespace mangrove::placement
