#include "apiserver/auth/rbac_roles.h"

#include <algorithm>

#include "api/select/label_selector.h"
#include "apiserver/core/object.h"

namespace mangrove::apiserver {

namespace {

api::Labels labelsOf(const json::Object& object) {
  api::Labels labels;
  const json::Object* members = findObject(metadataOf(object), "labels");
  if (!members) return labels;
  for (const auto& [key, value] : *members) {
    if (value.is_string()) labels.set(key, value.get_string());
  }
  return labels;
}

// A selector nobody can read selects nothing.
std::vector<api::Selector> readSelectors(const json::Object& aggregation) {
  std::vector<api::Selector> out;
  const json::Array* list = findArray(aggregation, "clusterRoleSelectors");
  for (size_t i = 0; list && i < list->size(); ++i) {
    auto selector = api::decodeText<api::LabelSelector>(json::write((*list)[i]));
    if (!selector) continue;
    if (auto compiled = api::compile(*selector)) out.push_back(std::move(*compiled));
  }
  return out;
}

}  // namespace

RoleTable::ClusterRole RoleTable::read(const json::Object& object) {
  ClusterRole role;
  role.own = readRules(object);
  role.labels = labelsOf(object);
  if (const json::Object* aggregation = findObject(object, "aggregationRule")) {
    role.aggregates = true;
    role.selectors = readSelectors(*aggregation);
  }
  return role;
}

void RoleTable::put(const std::string& ns, const std::string& name, const json::Object& object) {
  if (ns.empty()) {
    clusterRoles_[name] = read(object);
    if (!clusterRoles_[name].aggregates)
      slot(ns, name)->rules = std::make_shared<const RuleSet>(clusterRoles_[name].own);
    return aggregate();
  }
  slot(ns, name)->rules = std::make_shared<const RuleSet>(readRules(object));
}

void RoleTable::drop(const std::string& ns, const std::string& name) {
  auto found = slots_.find({ns, name});
  if (found == slots_.end()) return;
  found->second->rules = nullptr;
  prune(ns, name);
  if (ns.empty() && clusterRoles_.erase(name) > 0) aggregate();
}

void RoleTable::clear() {
  slots_.clear();
  clusterRoles_.clear();
}

RolePtr RoleTable::slot(const std::string& ns, const std::string& name) {
  RolePtr& slot = slots_[{ns, name}];
  if (!slot) slot = std::make_shared<RoleSlot>();
  return slot;
}

std::shared_ptr<const RuleSet> RoleTable::rules(const std::string& ns,
                                                const std::string& name) const {
  auto found = slots_.find({ns, name});
  return found == slots_.end() ? nullptr : found->second->rules;
}

void RoleTable::prune(const std::string& ns, const std::string& name) {
  auto found = slots_.find({ns, name});
  if (found == slots_.end()) return;
  if (!found->second->rules && found->second.use_count() == 1) slots_.erase(found);
}

// Depth first, so that what an aggregated role aggregates comes along; a circle ends by itself.
void RoleTable::collect(const std::string& name, std::set<std::string>& visited,
                        std::vector<Rule>& out) const {
  if (!visited.insert(name).second) return;
  const ClusterRole& role = clusterRoles_.at(name);
  if (!role.aggregates) {
    for (const Rule& rule : role.own) {
      if (std::find(out.begin(), out.end(), rule) == out.end()) out.push_back(rule);
    }
    return;
  }
  for (const auto& [other, candidate] : clusterRoles_) {
    auto selects = [&](const api::Selector& s) { return s.matches(candidate.labels); };
    if (std::any_of(role.selectors.begin(), role.selectors.end(), selects))
      collect(other, visited, out);
  }
}

std::vector<std::pair<std::string, std::vector<Rule>>> RoleTable::aggregated() const {
  std::vector<std::pair<std::string, std::vector<Rule>>> all;
  for (const auto& [name, role] : clusterRoles_) {
    if (!role.aggregates) continue;
    std::set<std::string> visited;
    all.emplace_back(name, std::vector<Rule>());
    collect(name, visited, all.back().second);
  }
  return all;
}

void RoleTable::aggregate() {
  for (auto& [name, rules] : aggregated()) {
    RolePtr to = slot("", name);
    if (!to->rules || to->rules->rules() != rules)
      to->rules = std::make_shared<const RuleSet>(std::move(rules));
  }
}

}  // namespace mangrove::apiserver
