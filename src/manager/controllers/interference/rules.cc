#include "manager/controllers/interference/rules.h"

#include <fmt/format.h>

namespace mangrove::manager {
namespace {

bool selects(const std::optional<api::LabelSelector>& selector, const api::Labels& node,
             bool withoutOne) {
  if (!selector) return withoutOne;
  const auto compiled = api::compile(*selector);
  return compiled && compiled->matches(node);
}

void joinActions(const AllRules& all, JoinedRules& out) {
  for (const auto& [name, action] : all.actions) {
    if (const auto ok = api::checkAction(action->spec); !ok)
      out.troubles.push_back({"AvoidanceAction", name, "ActionInvalid", ok.error().text()});
    else
      out.crane.actions[name] = action->spec;
  }
}

void joinNodes(const AllRules& all, const api::Labels& node, JoinedRules& out) {
  for (const auto& [name, qos] : all.nodes) {
    if (!selects(qos->spec.selector, node, true)) continue;
    for (const api::NodeQosRule& rule : qos->spec.rules) {
      const auto refuse = [&](std::string_view reason, std::string text) {
        out.troubles.push_back({"NodeQOS", name, std::string(reason), std::move(text)});
      };
      if (const auto ok = api::checkRule(rule); !ok)
        refuse("RuleInvalid", ok.error().text());
      else if (out.crane.actions.count(rule.actionName) == 0)
        refuse("ActionNotFound", fmt::format("rule {}: there is no AvoidanceAction '{}' that can "
                                             "be used; the rule is skipped",
                                             rule.name, rule.actionName));
      else
        out.crane.rules[fmt::format("{}.{}", name, rule.name)] = rule;
    }
  }
}

void joinPods(const AllRules& all, JoinedRules& out) {
  for (const auto& [name, pods] : all.pods) {
    if (const auto ok = api::checkPodQos(pods->spec); !ok)
      out.troubles.push_back({"PodQOS", name, "SelectorInvalid", ok.error().text()});
    else
      out.crane.pods[name] = pods->spec;
  }
}

void joinPolicy(const AllRules& all, const api::Labels& node, JoinedRules& out) {
  for (const auto& [name, policy] : all.policies) {
    if (const auto ok = api::checkInterferencePolicy(policy->spec); !ok) {
      out.troubles.push_back({"InterferencePolicy", name, "PolicyInvalid", ok.error().text()});
      continue;
    }
    if (out.policy || !selects(policy->spec.selector, node, false)) continue;
    out.policy = policy->spec;
    out.policy->selector.reset();
  }
}

}  // namespace

JoinedRules joinRules(const AllRules& all, const api::Labels& node) {
  JoinedRules out;
  joinActions(all, out);
  joinNodes(all, node, out);
  joinPods(all, out);
  joinPolicy(all, node, out);
  // Without a rule nobody asks for actions or pods.
  if (out.crane.rules.empty()) out.crane = {};
  return out;
}

}  // namespace mangrove::manager
