#pragma once
// The roles there are, compiled, with the rules of aggregated ClusterRoles gathered from the others
// whose labels they select. Keeps itself right with every put and drop. Owner thread.
//
//   RolePtr slot = roles.slot("", "admin");       // stays the same whatever happens to the role
//   if (auto rules = slot->rules) rules->allows(what);

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/select/selector.h"
#include "apiserver/auth/rbac_rules.h"

namespace mangrove::apiserver {

// What bindings hold on to: the rules a role has right now; null while there is no such role.
struct RoleSlot {
  std::shared_ptr<const RuleSet> rules;
};
using RolePtr = std::shared_ptr<RoleSlot>;

class RoleTable {
 public:
  // ns "" is a ClusterRole. `object` is the role as stored.
  void put(const std::string& ns, const std::string& name, const json::Object& object);
  void drop(const std::string& ns, const std::string& name);
  void clear();

  RolePtr slot(const std::string& ns, const std::string& name);
  // Null when there is no such role.
  std::shared_ptr<const RuleSet> rules(const std::string& ns, const std::string& name) const;
  // ClusterRoles with an aggregationRule, by name, and the rules that follow from it.
  std::vector<std::pair<std::string, std::vector<Rule>>> aggregated() const;
  // Forgets slots of roles that do not exist and that no binding holds any more.
  void prune(const std::string& ns, const std::string& name);

 private:
  struct ClusterRole {
    std::vector<Rule> own;
    api::Labels labels;
    bool aggregates = false;
    std::vector<api::Selector> selectors;
  };
  void aggregate();
  void collect(const std::string& name, std::set<std::string>& visited,
               std::vector<Rule>& out) const;
  static ClusterRole read(const json::Object& object);

  std::map<std::pair<std::string, std::string>, RolePtr> slots_;
  std::map<std::string, ClusterRole> clusterRoles_;
};

}  // namespace mangrove::apiserver
