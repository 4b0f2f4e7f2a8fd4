#pragma once
// Who may be moved at all, and who may be moved now. Both answers say why not, in a sentence for
// people: nullopt means yes.
//
//   if (auto why = refusal(pod, rules)) log.debug("{} stays: {}", name, *why);
//
// A pod annotated descheduler.alpha.kubernetes.io/evict passes both groups: somebody has decided.
// Pure functions, any thread.

#include <functional>
#include <optional>
#include <string>

#include "descheduler/migration/args.h"
#include "descheduler/migration/limits.h"

namespace mangrove::descheduler {

struct FilterRules {
  const MigrationArgs& args;
  const LiveJobs& live;
  WorkloadOf workloadOf;
  // Volumes of kind hostPath or emptyDir; api::Pod does not keep them.
  std::function<bool(const api::Pod&)> hasLocalStorage;
  // Why it should stay where a move has brought it; empty: nobody asks.
  std::function<std::optional<std::string>(const api::Pod&)> settled = {};
  // Why a member of a gang stays; empty: how gangs stand is not known, and no member moves.
  std::function<std::optional<std::string>(const api::Pod&)> gang = {};
};

// Why it belongs to its node and would come back there: a DaemonSet's, a mirror, a static pod.
std::optional<std::string> nodeBringsItBack(const api::Pod& pod);
bool isForced(const api::Pod& pod);  // the annotation above

// For what the pod is and where it belongs, whoever would evict it.
std::optional<std::string> isSpared(const api::Pod& pod, const FilterRules& rules);
// That, or a workload that would not run without it.
std::optional<std::string> neverMoves(const api::Pod& pod, const FilterRules& rules);
// All of it, in the order: no job yet, its scheduler can reserve, never, limits of the moment.
std::optional<std::string> refusal(const api::Pod& pod, const FilterRules& rules);

}  // namespace mangrove::descheduler
