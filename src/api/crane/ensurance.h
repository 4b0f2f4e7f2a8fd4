#pragma once
// Crane's kinds of ensurance.crane.io/v1alpha1: NodeQOS says which watermarks of a node call for
// which AvoidanceAction, PodQOS which actions may be applied to which pods. Cluster-scoped; an
// administrator writes them. The manager joins those that hold for a node into one CraneRules, an
// extension of the node's NodeSLO, so that agents watch one object.
//
// Only what is acted upon is read.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/object/meta.h"
#include "api/select/label_selector.h"
#include "api/wire/kind.h"
#include "base/result.h"
#include "json/fwd.h"

namespace mangrove::api {

namespace kind {
inline constexpr Kind kNodeQos{"ensurance.crane.io", "v1alpha1", "NodeQOS",
                               "nodeqoss",           false,      false};
inline constexpr Kind kPodQos{"ensurance.crane.io", "v1alpha1", "PodQOS", "podqoss", false, false};
inline constexpr Kind kAvoidanceAction{"ensurance.crane.io", "v1alpha1", "AvoidanceAction",
                                       "avoidanceactions",   false,      false};
}  // namespace kind
inline constexpr std::string_view kCraneExtension = "ensurance.crane.io";

struct CpuThrottleSpec {
  int32_t minCpuRatio = 0;   // percent of the limit
  int32_t stepCpuRatio = 0;  // percent of the present quota
  bool operator==(const CpuThrottleSpec&) const = default;
};
struct MemoryThrottleSpec {
  bool forceGc = false;
  bool operator==(const MemoryThrottleSpec&) const = default;
};
struct ThrottleSpec {
  std::optional<CpuThrottleSpec> cpu;
  std::optional<MemoryThrottleSpec> memory;
  bool operator==(const ThrottleSpec&) const = default;
};
struct EvictionSpec {
  std::optional<int64_t> gracePeriodSeconds;  // nullopt: the pod's own
  bool operator==(const EvictionSpec&) const = default;
};
struct AvoidanceActionSpec {
  int32_t coolDownSeconds = 300;
  std::optional<ThrottleSpec> throttle;
  std::optional<EvictionSpec> eviction;
  bool operator==(const AvoidanceActionSpec&) const = default;
};
bool read(const In& in, AvoidanceActionSpec& out);
json::Value toJson(const AvoidanceActionSpec& value);

struct MetricRule {
  std::string name;
  std::optional<LabelSelector> selector;
  Quantity value;
  bool operator==(const MetricRule&) const = default;
};
struct NodeQosRule {
  std::string name;
  std::optional<MetricRule> metricRule;
  int32_t avoidanceThreshold = 1;
  int32_t restoreThreshold = 1;
  std::string actionName;
  std::string strategy = "None";  // None, Preview
  bool operator==(const NodeQosRule&) const = default;
};
bool read(const In& in, NodeQosRule& out);
json::Value toJson(const NodeQosRule& value);

struct ScopeExpression {
  std::string scopeName;  // QOSClass, Priority, Namespace
  std::string op;         // In, NotIn
  std::vector<std::string> values;
  bool operator==(const ScopeExpression&) const = default;
};
struct ScopeSelector {
  std::vector<ScopeExpression> matchExpressions;
  bool operator==(const ScopeSelector&) const = default;
};
struct PodQosSpec {
  std::optional<LabelSelector> labelSelector;
  std::optional<ScopeSelector> scopeSelector;
  std::vector<std::string> allowedActions;
  bool operator==(const PodQosSpec&) const = default;
};
bool read(const In& in, PodQosSpec& out);
json::Value toJson(const PodQosSpec& value);

struct NodeQosSpec {
  std::optional<LabelSelector> selector;  // nullopt: all nodes
  std::vector<NodeQosRule> rules;
};

struct NodeQos {
  ObjectMeta meta;
  NodeQosSpec spec;
};
struct PodQos {
  ObjectMeta meta;
  PodQosSpec spec;
};
struct AvoidanceAction {
  ObjectMeta meta;
  AvoidanceActionSpec spec;
};
bool read(const In& in, NodeQos& out);
bool read(const In& in, PodQos& out);
bool read(const In& in, AvoidanceAction& out);

// All that holds for one node. Rules by "<NodeQOS>.<rule>".
struct CraneRules {
  std::map<std::string, NodeQosRule> rules;
  std::map<std::string, AvoidanceActionSpec> actions;
  std::map<std::string, PodQosSpec> pods;
  bool empty() const { return rules.empty(); }
  bool operator==(const CraneRules&) const = default;
};
bool read(const In& in, CraneRules& out);
json::Value toJson(const CraneRules& value);

// What is wrong with them, in a sentence; kOk when all is well.
Result<> checkRule(const NodeQosRule& rule);
Result<> checkAction(const AvoidanceActionSpec& action);
Result<> checkPodQos(const PodQosSpec& pods);

// One value of the scope Priority: an integer, or a range "a-b" with both ends, which may be
// negative: "-100--1".
struct PriorityRange {
  int64_t low = 0, high = 0;
  bool operator==(const PriorityRange&) const = default;
};
Result<PriorityRange> parsePriorityRange(std::string_view text);

// What a PodQOS looks at.
struct PodTraits {
  const Labels& labels;
  std::string_view ns;
  std::string_view qosClass;  // Guaranteed, Burstable, BestEffort
  int64_t priority = 0;
};
// All selectors must match; without any it matches no pod.
bool matchesPod(const PodQosSpec& pods, const PodTraits& pod);
// The actions that some PodQOS allows on this pod.
std::vector<std::string> allowedActions(const CraneRules& rules, const PodTraits& pod);

}  // namespace mangrove::api
