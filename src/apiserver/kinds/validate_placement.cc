// What a pod says about nodes and neighbours: selectors, affinity, tolerations, spread.
#include <set>

#include <fmt/core.h>

#include "apiserver/kinds/names.h"
#include "apiserver/kinds/object_meta.h"
#include "apiserver/kinds/validators.h"
#include "base/text/strings.h"

namespace mangrove::apiserver {
namespace {

void checkNodeRequirement(const Inspect& one) {
  one.check("key", qualifiedTrouble(one.text("key")));
  std::string_view op = one.text("operator");
  const json::Array& values = one.array("values");
  if ((op == "In" || op == "NotIn") && values.empty())
    one.required("values", "must be specified when `operator` is 'In' or 'NotIn'");
  if ((op == "Exists" || op == "DoesNotExist") && !values.empty())
    one.forbidden("values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  if ((op == "Gt" || op == "Lt") && values.size() != 1)
    one.required("values", "must be specified single value when `operator` is 'Lt' or 'Gt'");
  if (op.empty()) one.invalid("operator", "not a valid selector operator");
}

void checkNodeTerm(const Inspect& term) {
  term.each("matchExpressions", checkNodeRequirement);
  term.each("matchFields", [](const Inspect& one) {
    if (one.text("key") != "metadata.name") one.invalid("key", "not a valid field selector key");
    if (one.array("values").size() != 1)
      one.required("values",
                   "must be only one value when `operator` is 'In' or 'NotIn' for node "
                   "field selector");
  });
}

void checkNodeAffinity(const Inspect& affinity) {
  Inspect node = affinity.child("nodeAffinity");
  constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  if (node.has(kRequired)) {
    Inspect required = node.child(kRequired);
    if (required.wantsSome("nodeSelectorTerms", "must have at least one node selector term"))
      required.each("nodeSelectorTerms", checkNodeTerm);
  }
  node.each("preferredDuringSchedulingIgnoredDuringExecution", [](const Inspect& preferred) {
    if (!preferred.has("weight")) preferred.invalid("weight", "must be in the range 1-100");
    preferred.inRange("weight", 1, 100);
    Inspect term = preferred.child("preference");
    checkNodeTerm(term);
  });
}

void checkPodTerm(const Inspect& term) {
  if (term.text("topologyKey").empty())
    term.required("topologyKey", "can not be empty");
  else
    term.check("topologyKey", qualifiedTrouble(term.text("topologyKey")));
  Inspect selector = term.child("labelSelector"), namespaces = term.child("namespaceSelector");
  checkSelector(selector);
  checkSelector(namespaces);
}

void checkPodAffinity(const Inspect& affinity, std::string_view key) {
  Inspect pods = affinity.child(key);
  pods.each("requiredDuringSchedulingIgnoredDuringExecution", checkPodTerm);
  pods.each("preferredDuringSchedulingIgnoredDuringExecution", [](const Inspect& preferred) {
    if (!preferred.has("weight")) preferred.invalid("weight", "must be in the range 1-100");
    preferred.inRange("weight", 1, 100);
    Inspect term = preferred.child("podAffinityTerm");
    checkPodTerm(term);
  });
}

void checkToleration(const Inspect& toleration) {
  std::string_view key = toleration.text("key"), op = toleration.text("operator");
  if (!key.empty()) toleration.check("key", qualifiedTrouble(key));
  if (key.empty() && op != "Exists")
    toleration.invalid("operator",
                       "operator must be Exists when `key` is empty, which means "
                       "\"match all values and all keys\"");
  if (op == "Exists" && !toleration.text("value").empty())
    toleration.invalid("operator", "value must be empty when `operator` is 'Exists'");
  if ((op.empty() || op == "Equal") && !toleration.text("value").empty())
    toleration.check("value", labelValueTrouble(toleration.text("value")));
  if (toleration.has("tolerationSeconds") && toleration.text("effect") != "NoExecute")
    toleration.invalid("effect", "effect must be 'NoExecute' when `tolerationSeconds` is set");
}

void checkSpread(const Inspect& spec) {
  std::set<std::string> seen;
  spec.each("topologySpreadConstraints", [&](const Inspect& one) {
    if (one.integer("maxSkew").value_or(0) <= 0)
      one.invalid("maxSkew", "must be greater than zero");
    one.atLeast("minDomains", 1);
    one.wants("topologyKey", "can not be empty");
    one.wants("whenUnsatisfiable");
    if (one.has("minDomains") && one.text("whenUnsatisfiable") != "DoNotSchedule")
      one.invalid("minDomains", "can only use minDomains if whenUnsatisfiable=DoNotSchedule");
    Inspect selector = one.child("labelSelector");
    checkSelector(selector);
    std::string key =
        fmt::format("{{{}, {}}}", one.text("topologyKey"), one.text("whenUnsatisfiable"));
    if (!seen.insert(key).second) one.errors().duplicate(one.at(), json::Value(key));
  });
}

}  // namespace

void checkPlacement(const Inspect& spec) {
  validateLabels(spec.map("nodeSelector"), spec.at().child("nodeSelector"), spec.errors());
  Inspect affinity = spec.child("affinity");
  checkNodeAffinity(affinity);
  checkPodAffinity(affinity, "podAffinity");
  checkPodAffinity(affinity, "podAntiAffinity");
  spec.each("tolerations", checkToleration);
  checkSpread(spec);
}

}  // namespace mangrove::apiserver
