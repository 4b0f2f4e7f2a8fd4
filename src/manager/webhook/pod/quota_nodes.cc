#include "manager/webhook/pod/quota_nodes.h"

#include "api/wire/names.h"
#include "manager/webhook/draft.h"

namespace mangrove::manager {
namespace {

json::Array requirementsOf(const api::LabelSelector& selector) {
  json::Array out;
  for (const auto& [key, value] : selector.matchLabels)
    out.push_back(
        json::Object{{"key", key.view()}, {"operator", "In"}, {"values", {value.view()}}});
  for (const api::Expression& expression : selector.matchExpressions) {
    json::Object one{{"key", expression.key.view()}, {"operator", expression.op.view()}};
    if (!expression.values.empty()) {
      json::Array& values = one["values"].emplace_array();
      for (Interned value : expression.values) values.push_back(json::Value(value.view()));
    }
    out.push_back(std::move(one));
  }
  return out;
}

const Quota* quotaOfPod(const json::Object& pod, std::string_view ns, const QuotaTree& quotas) {
  const auto label = labelOf(pod, api::label::kQuotaName);
  const std::string_view name = label && !label->empty() ? *label : ns;
  const Quota* quota = quotas.find(name);
  return quota != nullptr ? quota : quotas.boundTo(name);
}

// Terms are alternatives, so every one of them must be narrowed.
void require(json::Object& podSpec, const json::Array& requirements) {
  json::Object& required = objectIn(objectIn(objectIn(podSpec, "affinity"), "nodeAffinity"),
                                    "requiredDuringSchedulingIgnoredDuringExecution");
  json::Value& terms = required["nodeSelectorTerms"];
  if (!terms.is_array()) terms.emplace_array();
  if (terms.get_array().empty()) terms.get_array().push_back(json::Object());
  for (json::Value& term : terms.get_array()) {
    if (!term.is_object()) continue;
    json::Value& expressions = term.get_object()["matchExpressions"];
    if (!expressions.is_array()) expressions.emplace_array();
    for (const json::Value& one : requirements) expressions.get_array().push_back(one);
  }
}

}  // namespace

void addQuotaTreeNodes(json::Object& pod, std::string_view ns, const QuotaTree& quotas) {
  const Quota* quota = quotaOfPod(pod, ns, quotas);
  if (quota == nullptr || quota->treeId.empty()) return;
  const api::LabelSelector* nodes = quotas.nodesOf(quota->treeId);
  if (nodes == nullptr || nodes->empty()) return;
  require(objectIn(pod, "spec"), requirementsOf(*nodes));
}

}  // namespace mangrove::manager
