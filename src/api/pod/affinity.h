#pragma once
// Where a pod may and would like to run: taints and tolerations, node and pod affinity, topology
// spread. As written in the object; the scheduler compiles them once per distinct spec.
//
//   if (!tolerates(pod.spec->tolerations, taint)) …
//
// Values; const access from any thread.

#include <cstdint>
#include <optional>
#include <vector>

#include "api/select/label_selector.h"
#include "api/wire/decode.h"

namespace mangrove::api {

enum class TaintEffect : uint8_t { kNone, kNoSchedule, kPreferNoSchedule, kNoExecute };
std::string_view taintEffectName(TaintEffect effect);  // "" for kNone

struct Taint {
  Interned key;
  Interned value;
  TaintEffect effect = TaintEffect::kNone;
  WallTime timeAdded = kZeroTime;
  bool operator==(const Taint&) const = default;
};
bool read(const In& in, Taint& out);

struct Toleration {
  Interned key;  // "" with kExists: every taint
  Interned value;
  TaintEffect effect = TaintEffect::kNone;  // kNone: every effect
  enum class Match : uint8_t { kEqual, kExists, kNever } match = Match::kEqual;
  std::optional<int64_t> seconds;  // NoExecute only: how long; nullopt: for ever
  bool operator==(const Toleration&) const = default;
};
bool read(const In& in, Toleration& out);

bool tolerates(const Toleration& toleration, const Taint& taint);
bool tolerates(const std::vector<Toleration>& tolerations, const Taint& taint);  // any of them

struct PreferredNodeTerm {
  int32_t weight = 0;
  NodeSelectorTerm term;
  bool operator==(const PreferredNodeTerm&) const = default;
};
struct NodeAffinity {
  std::optional<NodeSelector> required;  // present without terms: no node matches
  std::vector<PreferredNodeTerm> preferred;
  bool operator==(const NodeAffinity&) const = default;
};

struct PodAffinityTerm {
  Interned topologyKey;
  std::optional<LabelSelector> selector;           // nullopt: no pod
  std::optional<LabelSelector> namespaceSelector;  // nullopt: see namespaces; empty: all
  std::vector<Interned> namespaces;                // both absent: the pod's own
  std::vector<Interned> matchLabelKeys;
  std::vector<Interned> mismatchLabelKeys;
  bool operator==(const PodAffinityTerm&) const = default;
};
struct WeightedPodTerm {
  int32_t weight = 0;
  PodAffinityTerm term;
  bool operator==(const WeightedPodTerm&) const = default;
};
struct PodAffinity {
  std::vector<PodAffinityTerm> required;
  std::vector<WeightedPodTerm> preferred;
  bool operator==(const PodAffinity&) const = default;
};

struct Affinity {
  NodeAffinity node;
  PodAffinity pod;
  PodAffinity antiPod;
  bool operator==(const Affinity&) const = default;
};
bool read(const In& in, Affinity& out);
bool read(const In& in, PodAffinityTerm& out);

struct SpreadConstraint {
  int32_t maxSkew = 1;
  Interned topologyKey;
  bool isHard = true;  // DoNotSchedule; otherwise ScheduleAnyway
  std::optional<LabelSelector> selector;
  std::optional<int32_t> minDomains;  // nullopt: 1
  bool honorNodeAffinity = true;      // nodeAffinityPolicy, default Honor
  bool honorNodeTaints = false;       // nodeTaintsPolicy, default Ignore
  std::vector<Interned> matchLabelKeys;
  bool operator==(const SpreadConstraint&) const = default;
};
bool read(const In& in, SpreadConstraint& out);

}  // namespace mangrove::api
