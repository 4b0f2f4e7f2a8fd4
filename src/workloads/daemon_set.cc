#include "workloads/daemon_set.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "workloads/pods.h"

namespace mangrove::workloads {
namespace {

// Conditions of a node under which its daemons stay and start all the same.
constexpr std::string_view kEndured[] = {
    "node.kubernetes.io/not-ready",           "node.kubernetes.io/unreachable",
    "node.kubernetes.io/disk-pressure",       "node.kubernetes.io/memory-pressure",
    "node.kubernetes.io/pid-pressure",        "node.kubernetes.io/unschedulable",
    "node.kubernetes.io/network-unavailable",
};

json::Array daemonTolerations() {
  json::Array out;
  for (size_t i = 0; i < std::size(kEndured); ++i)
    out.push_back({{"key", kEndured[i]},
                   {"operator", "Exists"},
                   {"effect", i < 2 ? "NoExecute" : "NoSchedule"}});
  return out;
}

bool isEndured(const api::Taint& taint) {
  const bool known =
      std::find(std::begin(kEndured), std::end(kEndured), taint.key.view()) != std::end(kEndured);
  return known && (taint.effect == api::TaintEffect::kNoSchedule ||
                   taint.key.view() == kEndured[0] || taint.key.view() == kEndured[1]);
}

std::string_view revisionOf(const api::Pod& pod) {
  return pod.meta.labels.get(kRevisionHash).value_or("");
}

// Required node affinity becomes "this node": whatever the template said was checked already.
void pin(json::Object& pod, std::string_view node) {
  json::Object& affinity = sub(sub(sub(pod, "spec"), "affinity"), "nodeAffinity");
  json::Object term{{"matchFields", json::Array{json::Object{{"key", "metadata.name"},
                                                             {"operator", "In"},
                                                             {"values", json::Array{node}}}}}};
  affinity["requiredDuringSchedulingIgnoredDuringExecution"] =
      json::Object{{"nodeSelectorTerms", json::Array{std::move(term)}}};
}

// The node a daemon pod is for, bound or not.
std::string_view targetOf(const api::Pod& pod) {
  if (!pod.nodeName.view().empty()) return pod.nodeName.view();
  if (!pod.spec->affinity->node.required) return {};
  for (const auto& term : pod.spec->affinity->node.required->terms)
    for (const auto& rule : term.matchFields)
      if (rule.key.view() == "metadata.name" && rule.values.size() == 1)
        return rule.values[0].view();
  return {};
}

struct Daemons {
  const DaemonSet& set;
  WallTime now;
  std::string hash;                         // of the present template
  std::map<std::string_view, Pods> onNode;  // by node name
  std::map<std::string_view, NodeVerdict> nodes;
  int32_t surge = 0;  // nodes that may have an old and a new pod at a time
  Plan plan;
};

void create(Daemons& work, std::string_view node) {
  auto pod = podFromTemplate(work.set.podTemplate.text, api::kind::kDaemonSet, work.set.meta);
  if (!pod) return work.plan.notes.push_back({true, "FailedCreate", pod.error().text()});
  pin(*pod, node);
  json::Value& tolerations = sub(*pod, "spec")["tolerations"];
  if (!tolerations.is_array()) tolerations.emplace_array();
  for (auto& one : daemonTolerations()) tolerations.get_array().push_back(std::move(one));
  sub(sub(*pod, "metadata"), "labels")[kRevisionHash] = work.hash;
  work.plan.create.push_back(
      {api::kind::kPod, std::string(work.set.meta.ns.view()), std::move(*pod)});
}

bool isUp(const Daemons& work, const api::Pod& pod) {
  return api::isActive(pod) && isAvailable(pod, work.set.minReadySeconds, work.now);
}

void keepOldest(Daemons& work, Pods pods) {
  std::sort(pods.begin(), pods.end(), [](const auto& a, const auto& b) {
    return a->meta.creationTimestamp < b->meta.creationTimestamp;
  });
  for (size_t i = 1; i < pods.size(); ++i)
    if (api::isActive(*pods[i]) && api::isActive(*pods[0]))
      work.plan.remove.push_back(removePod(*pods[i]));
}

// With a surge the new pod stands beside the old one until it works.
void keepPair(Daemons& work, const Pods& live) {
  Pods fresh, old;
  for (const auto& pod : live) (revisionOf(*pod) == work.hash ? fresh : old).push_back(pod);
  keepOldest(work, fresh);
  const bool ready =
      std::any_of(fresh.begin(), fresh.end(), [&](const auto& pod) { return isUp(work, *pod); });
  if (!ready) return keepOldest(work, old);
  for (const auto& pod : old)
    if (!pod->meta.isDeleting()) work.plan.remove.push_back(removePod(*pod));
}

// One live pod per node: failed ones are replaced, surplus ones go, the oldest stays.
void manageNode(Daemons& work, std::string_view node, const NodeVerdict& verdict) {
  Pods live;
  for (const auto& pod : work.onNode[node]) {
    if (pod->meta.isDeleting()) {
      live.push_back(pod);  // its place is taken until it is gone
    } else if (!verdict.keep || api::isTerminated(*pod)) {
      work.plan.remove.push_back(removePod(*pod));
      if (api::isTerminated(*pod))
        work.plan.notes.push_back(
            {true, "FailedDaemonPod",
             fmt::format("Found failed daemon pod {}/{} on node {}, will try to kill it",
                         pod->meta.ns.view(), pod->meta.name.view(), node)});
      live.push_back(pod);
    } else {
      live.push_back(pod);
    }
  }
  if (live.empty() && verdict.run) return create(work, node);
  work.surge > 0 ? keepPair(work, live) : keepOldest(work, std::move(live));
}

// New pods beside old ones that work, as many at a time as maxSurge allows; old ones that do not
// work make room at once.
void surge(Daemons& work) {
  int32_t budget = work.surge;
  std::vector<std::string_view> waiting;
  for (const auto& [node, verdict] : work.nodes) {
    if (!verdict.run) continue;
    bool fresh = false, old = false;
    for (const auto& pod : work.onNode[node]) {
      if (revisionOf(*pod) == work.hash) {
        fresh = true;
      } else if (isUp(work, *pod)) {
        old = true;
      } else if (api::isActive(*pod)) {
        work.plan.remove.push_back(removePod(*pod));
      }
    }
    if (fresh && old) --budget;
    if (!fresh && old) waiting.push_back(node);
  }
  for (std::string_view node : waiting)
    if (budget-- > 0) create(work, node);
}

// Outdated pods go as far as maxUnavailable allows; those that do not work go at once.
void roll(Daemons& work, int32_t desired) {
  if (work.set.updateStrategy != "RollingUpdate") return;
  if (work.surge > 0) return surge(work);
  int32_t budget = std::max(1, scaled(work.set.maxUnavailable, desired, true, 1));
  Pods working;
  for (const auto& [node, verdict] : work.nodes) {
    if (!verdict.run) continue;
    const Pods& pods = work.onNode[node];
    const bool up =
        std::any_of(pods.begin(), pods.end(), [&](const auto& pod) { return isUp(work, *pod); });
    if (!up) --budget;
    for (const auto& pod : pods) {
      if (revisionOf(*pod) == work.hash || !api::isActive(*pod)) continue;
      if (isUp(work, *pod))
        working.push_back(pod);
      else
        work.plan.remove.push_back(removePod(*pod));
    }
  }
  for (const auto& pod : working)
    if (budget-- > 0) work.plan.remove.push_back(removePod(*pod));
}

json::Object statusOf(Daemons& work) {
  int32_t desired = 0, current = 0, misplaced = 0, ready = 0, available = 0, updated = 0;
  for (const auto& [node, verdict] : work.nodes) {
    const Pods& pods = work.onNode[node];
    desired += verdict.run ? 1 : 0;
    if (pods.empty()) continue;
    (verdict.run ? current : misplaced) += 1;
    if (!verdict.run) continue;
    auto any = [&](auto what) {
      return std::any_of(pods.begin(), pods.end(), [&](const auto& p) { return what(*p); }) ? 1 : 0;
    };
    ready += any([](const api::Pod& pod) { return isReady(pod); });
    available += any(
        [&](const api::Pod& pod) { return isAvailable(pod, work.set.minReadySeconds, work.now); });
    updated += any([&](const api::Pod& pod) { return revisionOf(pod) == work.hash; });
  }
  json::Object status{{"observedGeneration", work.set.meta.generation},
                      {"desiredNumberScheduled", desired},
                      {"currentNumberScheduled", current},
                      {"numberMisscheduled", misplaced},
                      {"numberReady", ready}};
  putCount(status, "updatedNumberScheduled", updated);
  putCount(status, "numberAvailable", available);
  putCount(status, "numberUnavailable", desired - available);
  return status;
}

std::vector<std::string> revisionsInUse(const DaemonSet& set, const Pods& pods) {
  std::vector<std::string> names;
  for (const auto& pod : pods)
    names.push_back(fmt::format("{}-{}", set.meta.name.view(), revisionOf(*pod)));
  return names;
}

}  // namespace

NodeVerdict belongsOn(const api::PodTemplate& podTemplate, const api::Node& node) {
  const api::PodSpec& spec = *podTemplate.spec;
  const bool named =
      podTemplate.nodeName.view().empty() || podTemplate.nodeName.view() == node.meta.name.view();
  const bool selected = api::contains(node.meta.labels, spec.nodeSelector);
  const auto& required = spec.affinity->node.required;
  if (!named || !selected || (required && !api::NodeTerms(*required).match(node.meta))) return {};
  NodeVerdict verdict{true, true};
  for (const auto& taint : node.spec.taints) {
    if (isEndured(taint) || api::tolerates(spec.tolerations, taint)) continue;
    if (taint.effect == api::TaintEffect::kNoSchedule) verdict.run = false;
    if (taint.effect == api::TaintEffect::kNoExecute) verdict = {};
  }
  return verdict;
}

Plan planDaemonSet(const DaemonSet& set, const Pods& pods, const Nodes& nodes,
                   const Revisions& revisions, std::string raw, WallTime now) {
  if (set.meta.isDeleting()) return {};
  Daemons work{set, now, {}, {}, {}, 0, {}};
  const std::string revision =
      planRevisions(api::kind::kDaemonSet, set, revisions, revisionsInUse(set, pods), work.plan);
  work.hash = revisionHash(set, revision);
  auto podTemplate = api::decodeText<api::PodTemplate>(set.podTemplate.text);
  if (!podTemplate) {
    work.plan.notes.push_back({true, "FailedCreate", podTemplate.error().text()});
    return std::move(work.plan);
  }
  int32_t desired = 0;
  for (const auto& node : nodes) {
    const NodeVerdict verdict = belongsOn(*podTemplate, *node);
    work.nodes[node->meta.name.view()] = verdict;
    desired += verdict.run ? 1 : 0;
  }
  if (set.updateStrategy == "RollingUpdate") work.surge = scaled(set.maxSurge, desired, true, 0);
  for (const auto& pod : pods) {
    work.onNode[targetOf(*pod)].push_back(pod);
    work.plan.lookAgainIn(untilAvailable(*pod, set.minReadySeconds, now));
  }
  for (const auto& [node, verdict] : work.nodes) manageNode(work, node, verdict);
  if (work.plan.create.empty() && work.plan.remove.empty()) roll(work, desired);
  work.plan.change.push_back(
      {{api::kind::kDaemonSet, std::string(set.meta.ns.view()), set.meta.name.str(), "status"},
       client::PatchType::kMerge,
       {{"status", statusOf(work)}},
       std::move(raw)});
  return std::move(work.plan);
}

}  // namespace mangrove::workloads
