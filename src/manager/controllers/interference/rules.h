#pragma once
// Which rules hold for one node, out of all NodeQOS, PodQOS, AvoidanceActions and
// InterferencePolicies. What cannot be used is left out and said. Pure functions, any thread.
//
//   JoinedRules joined = joinRules(all, node.meta.labels);
//   joined.crane.rules                     // by "<NodeQOS>.<rule>"

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/crane/ensurance.h"
#include "api/interference/policy.h"

namespace mangrove::manager {

// As the caches have them; pointers live as long as those.
struct AllRules {
  std::map<std::string, const api::NodeQos*> nodes;
  std::map<std::string, const api::PodQos*> pods;
  std::map<std::string, const api::AvoidanceAction*> actions;
  std::map<std::string, const api::InterferencePolicy*> policies;
};

// Who said something that cannot be used.
struct RuleTrouble {
  std::string kind, name, reason, text;
  bool operator==(const RuleTrouble&) const = default;
};

struct JoinedRules {
  api::CraneRules crane;
  std::optional<api::InterferencePolicySpec> policy;  // of the first by name, without its selector
  std::vector<RuleTrouble> troubles;
};
JoinedRules joinRules(const AllRules& all, const api::Labels& node);

}  // namespace mangrove::manager
