#pragma once
// Which workloads were proved to hurt which, as each node keeps it: an annotation of the Node that its
// agent writes, and the scheduler reads (plugin ProvenInterference). Workloads are classes that
// outlive single pods and rollouts.
//
//   colocation.mangrove.io/proven-interference:
//     [{"victim":"shop/web","by":"batch/sort","at":"2026-11-17T14:02:00Z"}]
//
// Pure functions, any thread.

#include <string>
#include <string_view>
#include <vector>

#include "api/object/meta.h"
#include "base/number/units.h"

namespace mangrove::api {

inline constexpr std::string_view kProvenPairs = "colocation.mangrove.io/proven-interference";

struct ProvenPair {
  std::string victim, antagonist;  // workload classes
  WallTime at{};
  bool operator==(const ProvenPair&) const = default;
};
// What cannot be read is left out.
std::vector<ProvenPair> parseProvenPairs(std::string_view text);
std::string provenPairsText(const std::vector<ProvenPair>& pairs);
// One more: the newest 32 of the last four weeks are kept.
std::vector<ProvenPair> withPair(std::vector<ProvenPair> pairs, ProvenPair fresh, WallTime now);

// "namespace/name" of what a pod is one of: its application by label, else its owner without what
// changes from rollout to rollout or from run to run.
std::string workloadClassOf(std::string_view ns, const Labels& labels, const OwnerReference* owner,
                            std::string_view podName);

}  // namespace mangrove::api
