#include "api/select/selector.h"

#include <algorithm>
#include <optional>

#include <fmt/core.h>

#include "api/select/label_syntax.h"
#include "base/text/strings.h"

namespace mangrove::api {
namespace {

bool isSet(Operator op) {
  return op == Operator::kIn || op == Operator::kNotIn;
}
bool isOrder(Operator op) {
  return op == Operator::kGreater || op == Operator::kLess;
}
bool isUnary(Operator op) {
  return op == Operator::kExists || op == Operator::kDoesNotExist;
}
bool isNegative(Operator op) {
  return op == Operator::kNotIn || op == Operator::kNotEquals || op == Operator::kDoesNotExist;
}

const char* sign(Operator op) {
  switch (op) {
    case Operator::kIn:
      return " in ";
    case Operator::kNotIn:
      return " notin ";
    case Operator::kGreater:
      return ">";
    case Operator::kLess:
      return "<";
    case Operator::kEquals:
      return "=";
    case Operator::kDoubleEquals:
      return "==";
    case Operator::kNotEquals:
      return "!=";
    case Operator::kExists:
    case Operator::kDoesNotExist:
      break;
  }
  return "";
}

// Go's ParseInt: a leading '+' is fine.
std::optional<int64_t> integerOf(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return parseInt<int64_t>(text);
}

Result<> checkCount(std::string_view key, Operator op, size_t count) {
  if (isSet(op) && count == 0) return invalid("'{}'{}needs at least one value", key, sign(op));
  if (isUnary(op) && count != 0)
    return invalid("'{}' with Exists or DoesNotExist takes no values, found {}", key, count);
  if (!isSet(op) && !isUnary(op) && count != 1)
    return invalid("'{}'{} takes exactly one value, found {}", key, sign(op), count);
  return {};
}

Result<> checkValues(std::string_view key, Operator op,
                     const std::vector<std::string_view>& values) {
  for (std::string_view value : values) {
    if (isOrder(op) && !integerOf(value))
      return invalid("'{}'{}'{}': the value must be an integer", key, sign(op), value);
    if (auto why = labelValueTrouble(value); !why.empty()) return invalid("'{}': {}", key, why);
  }
  return {};
}

}  // namespace

Result<Requirement> Requirement::make(std::string_view key, Operator op,
                                      const std::vector<std::string_view>& values) {
  if (auto why = labelKeyTrouble(key); !why.empty()) return invalid("{}", why);
  if (auto good = checkCount(key, op, values.size()); !good) return pass(good.error());
  if (auto good = checkValues(key, op, values); !good) return pass(good.error());
  Requirement made;
  made.key_ = Interned(key);
  made.op_ = op;
  for (std::string_view value : values) made.values_.emplace_back(value);
  std::ranges::sort(made.values_);
  made.values_.erase(std::ranges::unique(made.values_).begin(), made.values_.end());
  if (isOrder(op)) made.bound_ = *integerOf(values.front());
  return made;
}

bool Requirement::matches(const Labels& labels) const {
  const Interned* value = labels.find(key_);
  return value ? holds(*value) : isNegative(op_);
}

bool Requirement::holds(Interned value) const {
  if (isUnary(op_)) return op_ == Operator::kExists;
  if (isOrder(op_)) {
    auto number = integerOf(value.view());
    return number && (op_ == Operator::kGreater ? *number > bound_ : *number < bound_);
  }
  const bool listed = std::ranges::find(values_, value) != values_.end();
  return listed != isNegative(op_);
}

std::string Requirement::text() const {
  if (op_ == Operator::kDoesNotExist) return "!" + key_.str();
  std::string out = key_.str() + sign(op_);
  if (isSet(op_)) out += '(';
  for (size_t i = 0; i < values_.size(); i++) out.append(i ? "," : "").append(values_[i].view());
  // The empty value alone: Kubernetes writes "()", which it does not read.
  if (isSet(op_) && values_.size() == 1 && values_[0].empty()) out += ',';
  if (isSet(op_)) out += ')';
  return out;
}

Selector Selector::nothing() {
  Selector selector;
  selector.nothing_ = true;
  return selector;
}

bool Selector::matches(const Labels& labels) const {
  return !nothing_ &&
         std::ranges::all_of(requirements_, [&](const auto& r) { return r.matches(labels); });
}

std::string Selector::text() const {
  std::string out;
  for (const Requirement& requirement : requirements_)
    out.append(out.empty() ? "" : ",").append(requirement.text());
  return out;
}

void Selector::add(Requirement requirement) {
  auto at = std::ranges::upper_bound(requirements_, requirement.key(), {}, &Requirement::key);
  requirements_.insert(at, std::move(requirement));
}

}  // namespace mangrove::api
