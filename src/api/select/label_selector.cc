#include "api/select/label_selector.h"

#include <algorithm>

#include <fmt/core.h>

namespace mangrove::api {
namespace {

constexpr std::string_view kNameField = "metadata.name";

struct OperatorWord {
  std::string_view word;
  Operator op;
  bool nodesOnly;
};
constexpr OperatorWord kOperators[] = {
    {"In", Operator::kIn, false},         {"NotIn", Operator::kNotIn, false},
    {"Exists", Operator::kExists, false}, {"DoesNotExist", Operator::kDoesNotExist, false},
    {"Gt", Operator::kGreater, true},     {"Lt", Operator::kLess, true},
};

Result<Operator> operatorOf(const Expression& expression, bool node) {
  for (const auto& known : kOperators)
    if (expression.op == known.word && (node || !known.nodesOnly)) return known.op;
  return invalid("'{}': operator '{}' is unknown, want In, NotIn, Exists, DoesNotExist{}",
                 expression.key.view(), expression.op.view(), node ? ", Gt or Lt" : "");
}

Result<Requirement> requirementOf(const Expression& expression, bool node) {
  auto op = operatorOf(expression, node);
  if (!op) return pass(op.error());
  std::vector<std::string_view> values;
  for (Interned value : expression.values) values.push_back(value.view());
  return Requirement::make(expression.key.view(), *op, values);
}

}  // namespace

bool read(const In& in, Expression& out) {
  static constexpr Fields fields{
      field<&Expression::key>("key"),
      field<&Expression::op>("operator"),
      field<&Expression::values>("values"),
  };
  return fields.read(in, out);
}

bool read(const In& in, LabelSelector& out) {
  static constexpr Fields fields{
      field<&LabelSelector::matchLabels>("matchLabels"),
      field<&LabelSelector::matchExpressions>("matchExpressions"),
  };
  return fields.read(in, out);
}

bool read(const In& in, NodeSelectorTerm& out) {
  static constexpr Fields fields{
      field<&NodeSelectorTerm::matchExpressions>("matchExpressions"),
      field<&NodeSelectorTerm::matchFields>("matchFields"),
  };
  return fields.read(in, out);
}

bool read(const In& in, NodeSelector& out) {
  static constexpr Fields fields{field<&NodeSelector::terms>("nodeSelectorTerms")};
  return fields.read(in, out);
}

Result<Selector> compile(const LabelSelector& selector) {
  Selector compiled;
  for (const auto& [key, value] : selector.matchLabels) {
    auto requirement = Requirement::make(key.view(), Operator::kEquals, {value.view()});
    if (!requirement) return requirement.error().in("matchLabels");
    compiled.add(*std::move(requirement));
  }
  for (const Expression& expression : selector.matchExpressions) {
    auto requirement = requirementOf(expression, false);
    if (!requirement) return requirement.error().in("matchExpressions");
    compiled.add(*std::move(requirement));
  }
  return compiled;
}

Result<Selector> compile(const std::optional<LabelSelector>& selector) {
  return selector ? compile(*selector) : Selector::nothing();
}

bool contains(const Labels& labels, const Labels& wanted) {
  return std::ranges::all_of(wanted, [&](const auto& entry) {
    const Interned* value = labels.find(entry.key);
    return value && *value == entry.value;
  });
}

NodeTerm::NodeTerm(const NodeSelectorTerm& term)
    : empty_(term.matchExpressions.empty() && term.matchFields.empty()) {
  for (const auto& expression : term.matchExpressions) addExpression(expression);
  for (const auto& expression : term.matchFields) addField(expression);
}

void NodeTerm::addExpression(const Expression& expression) {
  auto requirement = requirementOf(expression, true);
  if (requirement)
    labels_.add(*std::move(requirement));
  else if (trouble_.empty())
    trouble_ = "matchExpressions: " + requirement.error().text();
}

void NodeTerm::addField(const Expression& expression) {
  const bool equal = expression.op == "In";
  if (!equal && expression.op != "NotIn") {
    trouble_ = fmt::format("matchFields: '{}': operator '{}' is unknown, want In or NotIn",
                           expression.key.view(), expression.op.view());
  } else if (expression.values.size() != 1) {
    trouble_ = fmt::format("matchFields: '{}' takes exactly one value, found {}",
                           expression.key.view(), expression.values.size());
  } else {
    fields_.push_back({expression.key == kNameField, equal, expression.values[0]});
  }
}

bool NodeTerm::matches(std::string_view nodeName, const Labels& labels) const {
  if (empty_ || !trouble_.empty() || !labels_.matches(labels)) return false;
  return std::ranges::all_of(fields_, [&](const FieldRule& rule) {
    return (rule.value == (rule.isName ? nodeName : std::string_view())) == rule.equal;
  });
}

std::optional<std::string_view> NodeTerm::pinnedName() const {
  for (const FieldRule& rule : fields_)
    if (rule.isName && rule.equal) return rule.value.view();
  return std::nullopt;
}

NodeTerms::NodeTerms(const NodeSelector& selector) {
  for (const NodeSelectorTerm& term : selector.terms) terms_.emplace_back(term);
}

bool NodeTerms::match(std::string_view nodeName, const Labels& labels) const {
  return std::ranges::any_of(terms_, [&](const auto& t) { return t.matches(nodeName, labels); });
}

}  // namespace mangrove::api
