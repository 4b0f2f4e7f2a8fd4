#include "placement/plugins/podtopologyspread/constraints.h"

#include <algorithm>
#include <cmath>

#include "api/wire/names.h"
#include "placement/framework/scale.h"

namespace mangrove::placement {

namespace {

void require(api::Selector& selector, const api::Labels& labels) {
  for (const auto& [key, value] : labels)
    if (auto rule = api::Requirement::make(key.view(), api::Operator::kIn, {value.view()}))
      selector.add(std::move(*rule));
}

void require(api::Selector& selector, const api::Selector& other) {
  for (const auto& rule : other.requirements()) selector.add(rule);
}

const api::OwnerReference* controllerOf(const PodClass& cls) {
  for (const auto& owner : *cls.owners)
    if (owner.controller) return &owner;
  return nullptr;
}

std::shared_ptr<const api::Workload> ownerOf(const PodClass& cls, const Cluster& cluster) {
  const api::OwnerReference* owner = controllerOf(cls);
  if (!owner) return nullptr;
  const std::string key = cls.ns.str() + "/" + owner->name.str();
  if (owner->kind == "ReplicaSet") return cluster.replicaSets.find(key);
  if (owner->kind == "StatefulSet") return cluster.statefulSets.find(key);
  if (owner->kind == "ReplicationController") return cluster.replicationControllers.find(key);
  return nullptr;
}

Spread compileOne(const api::SpreadConstraint& constraint, const PodClass& cls) {
  Spread out;
  out.maxSkew = constraint.maxSkew;
  out.key = constraint.topologyKey;
  out.selector = selectorFor(constraint.selector, constraint.matchLabelKeys, {}, cls.labels);
  out.minDomains = constraint.minDomains.value_or(1);
  out.honorAffinity = constraint.honorNodeAffinity;
  out.honorTaints = constraint.honorNodeTaints;
  out.isHostname = constraint.topologyKey == api::label::kHostname;
  out.matchesSelf = out.selector.matches(cls.labels);
  return out;
}

std::vector<api::SpreadConstraint> systemDefaults() {
  api::SpreadConstraint host, zone;
  host.topologyKey = Interned(api::label::kHostname);
  host.maxSkew = 3;
  zone.topologyKey = Interned(api::label::kZone);
  zone.maxSkew = 5;
  host.isHard = zone.isHard = false;
  return {host, zone};
}

}  // namespace

std::optional<api::Selector> defaultSelector(const PodClass& cls, const Cluster& cluster) {
  api::Selector out;
  const std::string prefix = cls.ns.str() + "/";
  for (const auto& [key, service] : cluster.services)
    if (key.starts_with(prefix) && !service->selector.empty() &&
        api::contains(cls.labels, service->selector))
      require(out, service->selector);
  if (const auto owner = ownerOf(cls, cluster); owner && owner->selector)
    if (auto selector = api::compile(*owner->selector)) require(out, *selector);
  if (out.matchesEverything()) return std::nullopt;
  return out;
}

SpreadPlan compileSpread(const PodClass& cls, const SpreadDefaults& defaults,
                         const Cluster& cluster) {
  SpreadPlan out;
  if (!cls.spec->spread.empty()) {
    for (const auto& constraint : cls.spec->spread)
      (constraint.isHard ? out.hard : out.soft).push_back(compileOne(constraint, cls));
    return out;
  }
  out.usesDefaults = true;
  const auto list = defaults.system ? systemDefaults() : defaults.list;
  if (list.empty()) return out;
  const auto selector = defaultSelector(cls, cluster);
  if (!selector) return out;
  out.needsAllKeys = !defaults.system;
  for (const auto& constraint : list) {
    Spread spread = compileOne(constraint, cls);
    spread.selector = *selector;
    spread.matchesSelf = selector->matches(cls.labels);
    (constraint.isHard ? out.hard : out.soft).push_back(std::move(spread));
  }
  return out;
}

double spreadScore(int64_t count, int32_t maxSkew, size_t size) {
  return static_cast<double>(count) * std::log(static_cast<double>(size) + 2) +
         static_cast<double>(maxSkew - 1);
}

int64_t spreadShare(int64_t raw, int64_t least, int64_t most) {
  return most == 0 ? kMaxScore : kMaxScore * (most + least - raw) / most;
}

}  // namespace mangrove::placement
