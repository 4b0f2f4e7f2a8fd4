#pragma once
// The rules of roles: what one permits, whether a set of them covers another, how they read. Pure
// values and functions; any thread.
//
//   RuleSet rules(readRules(role));
//   if (rules.allows(Attributes::of(info))) …
//   std::vector<Rule> missing = uncovered(held, wanted);     // what somebody may not give away

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/auth/authorizer.h"
#include "apiserver/auth/texts.h"
#include "json/value.h"

namespace mangrove::apiserver {

// "*" stands for everything in verbs, groups and resources; "*/scale" for that subresource of
// everything, "/logs/*" for every path below. No names: all names.
struct Rule {
  std::vector<std::string> verbs, groups, resources, names, urls;
  bool operator==(const Rule&) const = default;
};

// From a member `rules` (or whatever an object of the API calls a list of them); what has another
// type reads as empty and so permits nothing.
std::vector<Rule> readRules(const json::Object& role);
json::Array writeRules(std::span<const Rule> rules);
// {APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}, as Kubernetes prints them.
std::string ruleText(const Rule& rule);

// The parts of `wanted`, one verb, group, resource and name each, that no rule of `held` covers; the
// first 1 000 of them. Empty: whoever holds these may give `wanted` away. More than 20 000
// combinations are covered by a rule that covers them all, or not at all.
std::vector<Rule> uncovered(std::span<const Rule> held, std::span<const Rule> wanted);

// Rules compiled for questions: those for a plain resource are found through an index, so that a
// role of a hundred rules costs what one of three does.
class RuleSet {
 public:
  explicit RuleSet(std::vector<Rule> rules);
  bool allows(const Attributes& what) const;
  const std::vector<Rule>& rules() const { return rules_; }

 private:
  using Places = std::vector<uint32_t>;

  bool allowsPath(const Attributes& what) const;
  bool anyAllows(const Places& places, const Attributes& what) const;

  std::vector<Rule> rules_;
  ByText<Places> byResource_;
  // By what a wildcard leaves open: every resource ("*"), or one subresource of each ("*/scale").
  Places everyResource_;
  ByText<Places> bySubresource_;
  Places paths_;
};

}  // namespace mangrove::apiserver
