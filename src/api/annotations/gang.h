#pragma once
// Gangs declared by annotations on pods (a PodGroup object says the same in its spec), and the
// marks the scheduler leaves while binding one.

#include <optional>
#include <string>
#include <vector>

#include "api/annotations/annotation.h"

namespace mangrove::api {

// Label of the pod group, then its deprecated form, then the annotation; "" is none.
std::string_view gangNameOf(const Labels& labels, const Annotations& annotations);

// nullopt when absent; "" is an error here: a gang without a minimum is none.
Result<std::optional<int32_t>> parseGangMinAvailable(const Annotations& annotations);
// nullopt when absent or "": as many as min-available.
Result<std::optional<int32_t>> parseGangTotalNumber(const Annotations& annotations);
// Go's duration text; nullopt when absent or "".
Result<std::optional<Duration>> parseGangWaitingTime(const Annotations& annotations);
// Gangs that go together, as "namespace/name"; nullopt when absent or "".
Result<std::optional<std::vector<std::string>>> parseGangGroups(const Annotations& annotations);
// Set by the scheduler when the gang ran out of time.
bool isGangTimedOut(const Annotations& annotations);

enum class GangMode { kStrict, kNonStrict };
GangMode gangModeOf(const Annotations& annotations);  // anything but NonStrict is kStrict

enum class GangMatchPolicy { kOnlyWaiting, kWaitingAndRunning, kOnceSatisfied };
// The gang key, when empty its alias; anything unknown is kOnceSatisfied.
GangMatchPolicy gangMatchPolicyOf(const Annotations& annotations);

// Where the gang's members must or would like to stand in the network.
struct GatherRule {
  std::string layer;
  std::string strategy;  // MustGather, PreferGather
  int64_t podCountMultiple = 0;
  bool operator==(const GatherRule&) const = default;
};
bool read(const In& in, GatherRule& out);
json::Value toJson(const GatherRule& value);
struct NetworkTopologySpec {
  std::vector<GatherRule> gatherStrategy;
  bool operator==(const NetworkTopologySpec&) const = default;
};
bool read(const In& in, NetworkTopologySpec& out);
json::Value toJson(const NetworkTopologySpec& value);
// nullopt when absent or "".
Result<std::optional<NetworkTopologySpec>> parseNetworkTopologySpec(const Annotations& annotations);
// The pod's place in the gang (a rank); -1 when absent or no number.
int64_t networkTopologyIndexOf(const Annotations& pod);
// Restricts a pod to part of the network; "" when absent.
std::string_view networkTopologySelectorOf(const Annotations& pod);

// The scheduler's marks; the internal key first, then its deprecated twin.
std::string_view bindGangGroupIdOf(const Annotations& pod);
Result<std::optional<int32_t>> parseBindGangMemberCount(const Annotations& pod);

}  // namespace mangrove::api
