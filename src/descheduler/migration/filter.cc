#include "descheduler/migration/filter.h"

#include <algorithm>

#include <fmt/core.h>

#include "api/annotations/eviction.h"
#include "api/annotations/gang.h"
#include "base/text/strings.h"
#include "descheduler/names.h"

namespace mangrove::descheduler {
namespace {

using Why = std::optional<std::string>;

constexpr int64_t kSystemCritical = 2'000'000'000;

// Pods that something on the node itself brings back, or that are going already.
Why tiedToItsNode(const api::Pod& pod, const MigrationArgs& args) {
  if (pod.meta.isDeleting()) return "it is being deleted already";
  const bool daemon = api::isOwnedBy(pod.meta, "DaemonSet");
  return daemon && args.evictDaemonSetPods ? std::nullopt : nodeBringsItBack(pod);
}

Why nobodyBringsItBack(const api::Pod& pod, const MigrationArgs& args) {
  if (!args.checks("BarePods") || args.evictAllBarePods || !pod.meta.owners->empty()) {
    return std::nullopt;
  }
  if (args.evictFailedBarePods && pod.status.phase == api::PodPhase::kFailed) return std::nullopt;
  return "it has no owner that would bring it back";
}

Why tooImportant(const api::Pod& pod, const MigrationArgs& args) {
  if (args.evictSystemCriticalPods) return std::nullopt;
  const int64_t priority = pod.spec->priority.value_or(0);
  if (args.checks("SystemCritical") && priority >= kSystemCritical) {
    return fmt::format("its priority {} is that of system critical pods", priority);
  }
  if (args.checks("PriorityThreshold") && args.priorityThreshold &&
      priority >= *args.priorityThreshold) {
    return fmt::format("its priority {} reaches the threshold {}", priority,
                       *args.priorityThreshold);
  }
  return std::nullopt;
}

bool hasClaim(const api::Pod& pod) {
  const auto& volumes = pod.spec->volumes;
  return std::any_of(volumes.begin(), volumes.end(), [](const api::Volume& volume) {
    return volume.source == api::Volume::Source::kClaim;
  });
}

Why holdsData(const api::Pod& pod, const FilterRules& rules) {
  const MigrationArgs& args = rules.args;
  if (args.checks("LocalStorage") && !args.evictLocalStoragePods && rules.hasLocalStorage &&
      rules.hasLocalStorage(pod)) {
    return "it has a hostPath or emptyDir volume, whose content would be lost";
  }
  if (args.checks("PVC") && args.ignorePvcPods && hasClaim(pod)) {
    return "it has a persistent volume claim, and ignorePvcPods is set";
  }
  return std::nullopt;
}

// A member that leaves alone stops its whole gang; gangs move whole or not at all.
Why boundToItsGang(const api::Pod& pod, const FilterRules& rules) {
  const auto gang = api::gangNameOf(pod.meta.labels, pod.meta.annotations);
  if (gang.empty()) return std::nullopt;
  if (rules.gang) return rules.gang(pod);
  return fmt::format("it is a member of gang {}, which does not move in part", gang);
}

Why outsideOfChoice(const api::Pod& pod, const MigrationArgs& args) {
  if (args.checks("Namespaces") && !args.namespaces.takes(pod.meta.ns.view())) {
    return fmt::format("namespace {} is not among those that are descheduled", pod.meta.ns.view());
  }
  if (args.checks("LabelSelector") && !matches(args.labelSelector, pod.meta.labels)) {
    return "its labels do not match labelSelector";
  }
  return std::nullopt;
}

Why cannotReserve(const api::Pod& pod, const MigrationArgs& args) {
  if (!args.reservesFirst()) return std::nullopt;
  const std::string_view name = pod.spec->schedulerName.view();
  const auto& known = args.schedulerNames;
  if (std::find(known.begin(), known.end(), name) != known.end()) return std::nullopt;
  return fmt::format("its scheduler is '{}', and reservations are made by {} only", name,
                     join(known, ", "));
}

}  // namespace

Why nodeBringsItBack(const api::Pod& pod) {
  if (api::isOwnedBy(pod.meta, "DaemonSet")) return "a DaemonSet keeps it on its node";
  if (api::isMirror(pod)) return "it is the mirror of a pod from a file of its node";
  const auto source = pod.meta.annotations.get(key::kConfigSource);
  if (source && *source != "api") return fmt::format("it is a static pod ({})", *source);
  return std::nullopt;
}

bool isForced(const api::Pod& pod) {
  return pod.meta.annotations.has(key::kEvictAnyway);
}

std::optional<std::string> isSpared(const api::Pod& pod, const FilterRules& rules) {
  if (auto why = outsideOfChoice(pod, rules.args)) return why;
  if (api::parseEvictionCost(pod.meta.annotations).value_or(0) == api::kNeverEvictCost) {
    return "its eviction cost says never";
  }
  if (auto why = tiedToItsNode(pod, rules.args)) return why;
  if (auto why = nobodyBringsItBack(pod, rules.args)) return why;
  if (auto why = tooImportant(pod, rules.args)) return why;
  if (auto why = holdsData(pod, rules)) return why;
  return boundToItsGang(pod, rules);
}

std::optional<std::string> neverMoves(const api::Pod& pod, const FilterRules& rules) {
  if (isForced(pod)) return std::nullopt;
  if (auto why = isSpared(pod, rules)) return why;
  return refusedByReplicas(pod, rules.args.limits, rules.workloadOf);
}

std::optional<std::string> refusal(const api::Pod& pod, const FilterRules& rules) {
  if (rules.live.hasJob(pod)) return "a migration of it is under way";
  if (auto why = cannotReserve(pod, rules.args)) return why;
  if (isForced(pod)) return std::nullopt;
  if (auto why = rules.settled ? rules.settled(pod) : std::nullopt) return why;
  if (auto why = neverMoves(pod, rules)) return why;
  return refusedByLimits(pod, rules.args.limits, rules.live, rules.workloadOf);
}

}  // namespace mangrove::descheduler
