#include "apiserver/kinds/merge_rules.h"

#include <deque>
#include <unordered_map>

namespace mangrove::apiserver {
namespace {

struct Node {
  json::MergeSchema schema;
  std::vector<json::MergeField> fields;
};

class MergeRules {
 public:
  MergeRules() {
    for (const auto& [name, schema] : catalogue().types()) nodeOf(*schema);
  }
  const json::MergeSchema* find(const Schema* schema) const {
    auto at = nodes_.find(schema);
    return at != nodes_.end() ? &at->second->schema : nullptr;
  }

 private:
  // Entered before its fields are made, because types may contain themselves.
  const json::MergeSchema* nodeOf(const Schema& schema) {
    if (schema.fields.empty()) return nullptr;
    auto [at, isNew] = nodes_.try_emplace(&schema, nullptr);
    if (!isNew) return &at->second->schema;
    Node& node = storage_.emplace_back();
    at->second = &node;
    node.fields.reserve(schema.fields.size());
    for (const Field& field : schema.fields) addField(node, field);
    node.schema = {schema.name, node.fields};
    return &node.schema;
  }

  void addField(Node& node, const Field& field) {
    if (field.schema->isScalar() || field.schema->isMap()) return;
    json::Strategy strategy = json::Strategy::kUsual;
    if (field.schema->isArray() && field.patch.merge) strategy = json::Strategy::kMerge;
    if (field.schema->isObject() && field.patch.replace) strategy = json::Strategy::kReplace;
    const json::MergeSchema* inside = nodeOf(field.schema->element());
    if (strategy == json::Strategy::kUsual && inside == nullptr) return;
    node.fields.push_back(
        {field.name, strategy, field.patch.mergeKey, inside, field.patch.retainKeys});
  }

  std::unordered_map<const Schema*, Node*> nodes_;
  std::deque<Node> storage_;
};

}  // namespace

const json::MergeSchema* mergeRulesOf(const KindInfo& kind) {
  if (kind.isCustom) return nullptr;
  static const MergeRules rules;
  return rules.find(kind.schema.get());
}

}  // namespace mangrove::apiserver
