#pragma once
// Selectors as objects carry them: LabelSelector (matchLabels, matchExpressions) and NodeSelector
// (terms over labels and fields of a node). Decoding keeps them as written, because Kubernetes does
// not look inside while decoding either; compile() checks them and gives the fast form.
//
//   Selector wanted = compile(spec.selector).value_or(Selector::nothing());
//   NodeTerms terms(*affinity.required);               // once per spec
//   if (terms.match(node.meta)) …
//
// A missing LabelSelector matches nothing, an empty one everything. Values; const access from any
// thread.

#include <optional>
#include <string>
#include <vector>

#include "api/object/meta.h"
#include "api/select/labels.h"
#include "api/select/selector.h"
#include "api/wire/decode.h"

namespace mangrove::api {

// One line of matchExpressions or matchFields; the operator is kept as its word.
struct Expression {
  Interned key;
  Interned op;  // In, NotIn, Exists, DoesNotExist; Gt and Lt for nodes
  std::vector<Interned> values;
  bool operator==(const Expression&) const = default;
};
bool read(const In& in, Expression& out);

struct LabelSelector {
  Labels matchLabels;
  std::vector<Expression> matchExpressions;

  bool empty() const { return matchLabels.empty() && matchExpressions.empty(); }
  bool operator==(const LabelSelector&) const = default;
};
bool read(const In& in, LabelSelector& out);

Result<Selector> compile(const LabelSelector& selector);
// nullopt: matches nothing.
Result<Selector> compile(const std::optional<LabelSelector>& selector);
// {a: b, c: d} as in nodeSelector and Service.spec.selector: all pairs must be there. Never fails:
// no syntax check.
bool contains(const Labels& labels, const Labels& wanted);

struct NodeSelectorTerm {
  std::vector<Expression> matchExpressions;
  std::vector<Expression> matchFields;  // only metadata.name exists
  bool operator==(const NodeSelectorTerm&) const = default;
};
bool read(const In& in, NodeSelectorTerm& out);

struct NodeSelector {
  std::vector<NodeSelectorTerm> terms;
  bool operator==(const NodeSelector&) const = default;
};
bool read(const In& in, NodeSelector& out);

// One term, compiled. An empty term matches nothing; one that cannot be compiled says why and
// matches nothing.
class NodeTerm {
 public:
  explicit NodeTerm(const NodeSelectorTerm& term);
  bool matches(std::string_view nodeName, const Labels& labels) const;
  const std::string& trouble() const { return trouble_; }
  // The names this term is limited to by matchFields In; nullopt: any node may match.
  std::optional<std::string_view> pinnedName() const;

 private:
  struct FieldRule {
    bool isName;  // metadata.name; any other field reads as ""
    bool equal;
    Interned value;
  };
  void addExpression(const Expression& expression);
  void addField(const Expression& expression);

  Selector labels_;
  std::vector<FieldRule> fields_;
  std::string trouble_;
  bool empty_ = false;
};

// Terms are ORed; none match nothing.
class NodeTerms {
 public:
  explicit NodeTerms(const NodeSelector& selector);
  bool match(std::string_view nodeName, const Labels& labels) const;
  bool match(const ObjectMeta& node) const { return match(node.name, node.labels); }
  const std::vector<NodeTerm>& terms() const { return terms_; }

 private:
  std::vector<NodeTerm> terms_;
};

}  // namespace mangrove::api
