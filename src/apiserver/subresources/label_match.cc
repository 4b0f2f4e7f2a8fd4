#include "apiserver/subresources/label_match.h"

#include <optional>
#include <vector>

#include "apiserver/core/object.h"

namespace mangrove::apiserver {

namespace {

std::optional<api::Operator> operatorOf(std::string_view word) {
  if (word == "In") return api::Operator::kIn;
  if (word == "NotIn") return api::Operator::kNotIn;
  if (word == "Exists") return api::Operator::kExists;
  if (word == "DoesNotExist") return api::Operator::kDoesNotExist;
  return std::nullopt;
}

Result<> addPairs(const json::Object& pairs, api::Selector& out) {
  for (const auto& [key, value] : pairs) {
    if (!value.is_string()) return invalid("label {}: the value is no string", std::string(key));
    auto one = api::Requirement::make(key, api::Operator::kEquals, {value.get_string()});
    if (!one) return pass(one.error());
    out.add(std::move(*one));
  }
  return {};
}

Result<> addExpression(const json::Object& expression, api::Selector& out) {
  const std::string_view word = textAt(expression, "operator");
  const auto op = operatorOf(word);
  if (!op) return invalid("operator '{}': want In, NotIn, Exists or DoesNotExist", word);
  std::vector<std::string_view> values;
  if (const json::Array* list = findArray(expression, "values")) {
    for (const json::Value& value : *list)
      if (value.is_string()) values.push_back(value.get_string());
  }
  auto one = api::Requirement::make(textAt(expression, "key"), *op, values);
  if (!one) return pass(one.error());
  out.add(std::move(*one));
  return {};
}

}  // namespace

Result<api::Selector> selectorFrom(const json::Object& labelSelector) {
  api::Selector out;
  if (const json::Object* pairs = findObject(labelSelector, "matchLabels")) {
    if (auto ok = addPairs(*pairs, out); !ok) return pass(ok.error());
  }
  const json::Array* expressions = findArray(labelSelector, "matchExpressions");
  if (!expressions) return out;
  for (const json::Value& one : *expressions) {
    if (!one.is_object()) return invalid("a label expression is no object");
    if (auto ok = addExpression(one.get_object(), out); !ok) return pass(ok.error());
  }
  return out;
}

Result<api::Selector> selectorFromPairs(const json::Object& pairs) {
  api::Selector out;
  if (auto ok = addPairs(pairs, out); !ok) return pass(ok.error());
  return out;
}

api::Labels labelsOf(const json::Object& object) {
  api::Labels out;
  if (const json::Object* labels = findObject(metadataOf(object), "labels")) {
    for (const auto& [key, value] : *labels)
      if (value.is_string()) out.set(key, std::string_view(value.get_string()));
  }
  return out;
}

bool matchesLabels(const api::Selector& selector, const json::Object& object) {
  return selector.matchesEverything() || selector.matches(labelsOf(object));
}

}  // namespace mangrove::apiserver
