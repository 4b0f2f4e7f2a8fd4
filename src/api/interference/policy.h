#pragma once
// InterferencePolicy (colocation.mangrove.io): which detectors look on the selected nodes, from where
// on they act, and which steps may be taken. Cluster-scoped; an administrator writes it. Of several
// that select a node the first by name holds; the manager puts it into the node's NodeSLO.

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "api/object/meta.h"
#include "api/select/label_selector.h"
#include "api/wire/kind.h"
#include "base/result.h"
#include "json/fwd.h"

namespace mangrove::api {

namespace kind {
inline constexpr Kind kInterferencePolicy{
    "colocation.mangrove.io", "v1alpha1", "InterferencePolicy",
    "interferencepolicies",   false,      false};
}
inline constexpr std::string_view kInterferenceExtension = "interference.mangrove.io";
// Of a pod, "true": never throttled, capped or moved for a service's sake.
inline constexpr std::string_view kInterferenceExempt =
    "colocation.mangrove.io/interference-exempt";

struct InterferenceMarks {
  double warn = 0, act = 0;  // percent of time, or of the promised latency
  bool operator==(const InterferenceMarks&) const = default;
};

struct InterferencePolicySpec {
  std::optional<LabelSelector> selector;  // of nodes; nullopt: none
  // gaussian, cpi2, pressure; those that are not named are on.
  std::map<std::string, bool> detectors;
  // cpu, memorySome, memoryFull, io, latency, network; those that are not named have their defaults.
  std::map<std::string, InterferenceMarks> thresholds;
  std::map<std::string, bool> ladder;  // "L1" … "L8", "memory-high"; false: not taken
  int32_t pairs = 0;                   // of an experiment; 0: the default
  bool dryRun = false;                 // look and report, change nothing
  bool operator==(const InterferencePolicySpec&) const = default;
};
bool read(const In& in, InterferencePolicySpec& out);
json::Value toJson(const InterferencePolicySpec& value);

struct InterferencePolicy {
  ObjectMeta meta;
  InterferencePolicySpec spec;
};
bool read(const In& in, InterferencePolicy& out);

// What is wrong with it, in a sentence that says what would be right.
Result<> checkInterferencePolicy(const InterferencePolicySpec& spec);

}  // namespace mangrove::api
