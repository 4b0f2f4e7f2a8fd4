#include "descheduler/plugins/ported.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "api/select/label_selector.h"
#include "base/text/strings.h"

namespace mangrove::descheduler {
namespace {

using States = std::set<std::string, std::less<>>;

int64_t ageOf(const api::Pod& pod, WallTime now) {
  return std::chrono::floor<std::chrono::seconds>(now - pod.meta.creationTimestamp).count();
}

// Everybody on the nodes of the round who is meant and permitted.
template <class Meant>
Pods permitted(Round& round, const PodScope& scope, Meant meant) {
  Pods out;
  for (const api::Node* node : round.nodes) {
    for (const api::Pod* pod : round.look.podsOn(node->meta.name.view())) {
      if (scope.takes(*pod) && meant(*pod, *node) && round.evictor.permits(*pod))
        out.push_back(pod);
    }
  }
  return out;
}

template <class Visit>
void eachContainer(const api::Pod& pod, bool withInit, Visit visit) {
  for (const auto& status : pod.status.containers) visit(status);
  if (!withInit) return;
  for (const auto& status : pod.status.initContainers) visit(status);
}

bool isInState(const api::Pod& pod, const States& states, bool withInit) {
  if (states.empty()) return true;
  bool found = states.contains(api::podPhaseName(pod.status.phase)) ||
               (!pod.status.reason.empty() && states.contains(pod.status.reason.view()));
  eachContainer(pod, withInit, [&](const api::ContainerStatus& status) {
    found = found || (!status.state.reason.empty() && states.contains(status.state.reason.view()));
  });
  return found;
}

bool isOwnedByAny(const api::Pod& pod, const States& kinds) {
  return std::any_of(kinds.begin(), kinds.end(),
                     [&](const std::string& kind) { return api::isOwnedBy(pod.meta, kind); });
}

int64_t restartsOf(const api::Pod& pod, bool withInit) {
  int64_t sum = 0;
  eachContainer(pod, withInit, [&](const auto& status) { sum += status.restartCount; });
  return sum;
}

void evictAll(Round& round, const Pods& pods, std::string_view plugin, std::string_view reason) {
  for (const api::Pod* pod : pods) round.evictor.evict(*pod, plugin, reason);
}

int64_t preferenceFor(const api::Pod& pod, const api::Node& node) {
  int64_t sum = 0;
  for (const auto& preferred : pod.spec->affinity->node.preferred) {
    if (api::NodeTerm(preferred.term).matches(node.meta.name.view(), node.meta.labels)) {
      sum += preferred.weight;
    }
  }
  return sum;
}

bool isNamed(const api::Taint& taint, const std::vector<std::string>& list) {
  return std::any_of(list.begin(), list.end(), [&](const std::string& entry) {
    const Halves halves = cut(entry, '=');
    return taint.key == halves.before && (!halves.found || taint.value == halves.after);
  });
}

}  // namespace

Result<> PodLifeTime::run(Round& round) {
  Pods pods = permitted(round, args_.scope, [&](const api::Pod& pod, const api::Node&) {
    const bool old = !args_.maxSeconds || ageOf(pod, round.look.now()) > *args_.maxSeconds;
    return old && isInState(pod, args_.states, args_.includingInitContainers);
  });
  std::stable_sort(pods.begin(), pods.end(), [](const api::Pod* a, const api::Pod* b) {
    return a->meta.creationTimestamp < b->meta.creationTimestamp;
  });
  evictAll(round, pods, kName, "it lives longer than it should");
  return {};
}

bool RemoveFailedPods::isMeant(const api::Pod& pod, WallTime now) const {
  if (pod.status.phase != api::PodPhase::kFailed || ageOf(pod, now) < args_.minSeconds)
    return false;
  if (isOwnedByAny(pod, args_.excludeOwnerKinds)) return false;
  if (!isInState(pod, args_.reasons, args_.includingInitContainers)) return false;
  bool coded = args_.exitCodes.empty();
  eachContainer(pod, args_.includingInitContainers, [&](const api::ContainerStatus& status) {
    coded = coded || (status.isTerminated() && args_.exitCodes.contains(status.state.exitCode));
  });
  return coded;
}

Result<> RemoveFailedPods::run(Round& round) {
  evictAll(round,
           permitted(round, args_.scope,
                     [&](const api::Pod& pod, const api::Node&) {
                       return isMeant(pod, round.look.now());
                     }),
           kName, "it failed");
  return {};
}

Result<> TooManyRestarts::run(Round& round) {
  evictAll(round,
           permitted(round, args_.scope,
                     [&](const api::Pod& pod, const api::Node&) {
                       return restartsOf(pod, args_.includingInitContainers) >= args_.threshold &&
                              isInState(pod, args_.states, args_.includingInitContainers);
                     }),
           kName, fmt::format("its containers restarted {} times or more", args_.threshold));
  return {};
}

// Preferred: only when another node, on which it fits, would suit it better.
Result<> ViolatingNodeAffinity::run(Round& round) {
  const auto meant = [&](const api::Pod& pod, const api::Node& node) {
    if (api::isTerminated(pod)) return false;
    if (args_.required && !isWantedBy(pod, node) && round.fit.fitsAny(pod, round.nodes))
      return true;
    if (!args_.preferred) return false;
    const int64_t here = preferenceFor(pod, node);
    return std::any_of(round.nodes.begin(), round.nodes.end(), [&](const api::Node* other) {
      return preferenceFor(pod, *other) > here && round.fit.fits(pod, *other);
    });
  };
  evictAll(round, permitted(round, args_.scope, meant), kName,
           "its node affinity asks for another node");
  return {};
}

bool ViolatingNodeTaints::counts(const api::Taint& taint) const {
  const bool repels =
      taint.effect == api::TaintEffect::kNoSchedule ||
      (args_.includePreferNoSchedule && taint.effect == api::TaintEffect::kPreferNoSchedule);
  if (!repels || isNamed(taint, args_.excluded)) return false;
  return args_.included.empty() || isNamed(taint, args_.included);
}

Result<> ViolatingNodeTaints::run(Round& round) {
  evictAll(round,
           permitted(round, args_.scope,
                     [&](const api::Pod& pod, const api::Node& node) {
                       return !api::isTerminated(pod) &&
                              std::any_of(node.spec.taints.begin(), node.spec.taints.end(),
                                          [&](const api::Taint& taint) {
                                            return counts(taint) &&
                                                   !api::tolerates(pod.spec->tolerations, taint);
                                          });
                     }),
           kName, "it does not tolerate a taint of its node");
  return {};
}

// One per owner and image on a node is no duplicate; beyond that an even share of all is.
Result<> RemoveDuplicates::run(Round& round) {
  std::map<std::string, std::map<const api::Node*, Pods>> groups;
  const auto single = [&](const api::Pod& pod, const api::Node& node) {
    const api::OwnerReference* owner = pod.meta.controller();
    if (owner == nullptr || api::isTerminated(pod) || api::isOwnedBy(pod.meta, "DaemonSet")) {
      return false;
    }
    if (isOwnedByAny(pod, args_.excludeOwnerKinds)) return false;
    std::vector<std::string> images;
    for (const auto& container : pod.spec->containers) images.push_back(container.image.str());
    std::sort(images.begin(), images.end());
    groups[fmt::format("{}/{}/{}", pod.meta.ns.view(), owner->uid.str(), join(images, ","))][&node]
        .push_back(&pod);
    return false;
  };
  permitted(round, args_.scope, single);
  for (auto& [key, byNode] : groups) {
    size_t all = 0;
    for (const auto& [node, pods] : byNode) all += pods.size();
    Nodes able;
    for (const api::Node* node : round.nodes) {
      if (admits(*node, *byNode.begin()->second.front())) able.push_back(node);
    }
    if (all < 2 || able.size() < 2) continue;
    const size_t share = (all + able.size() - 1) / able.size();
    for (const auto& [node, pods] : byNode) {
      for (size_t i = share; i < pods.size(); ++i) {
        if (round.evictor.permits(*pods[i])) {
          round.evictor.evict(*pods[i], kName, "others of its owner are on the same node");
        }
      }
    }
  }
  return {};
}

}  // namespace mangrove::descheduler
