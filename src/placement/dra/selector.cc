#include "placement/dra/selector.h"

#include "base/text/strings.h"
#include "placement/dra/selector_term.h"

namespace mangrove::placement {

std::optional<DeviceVersion> readVersion(std::string_view text) {
  DeviceVersion out;
  text = cut(text, '+').before;
  const Halves halves = cut(text, '-');
  out.pre = std::string(halves.after);
  const auto parts = split(halves.before, '.');
  if (parts.size() != 3) return std::nullopt;
  for (size_t i = 0; i < 3; i++) {
    const auto number = parseInt<int64_t>(parts[i]);
    if (!number || *number < 0) return std::nullopt;
    out.parts[i] = *number;
  }
  return out;
}

namespace {

using Value = DeviceValue;

template <class T>
int order(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}
int order(const DeviceVersion& a, const DeviceVersion& b) {
  if (const int byParts = order(a.parts, b.parts); byParts != 0) return byParts;
  if (a.pre.empty() != b.pre.empty()) return a.pre.empty() ? 1 : -1;
  return order(a.pre, b.pre);
}

Result<int> compare(const Value& a, const Value& b) {
  if (a.index() != b.index()) return invalid("{} and {} do not compare", typeName(a), typeName(b));
  return std::visit(
      [&](const auto& left) { return order(left, std::get<std::decay_t<decltype(left)>>(b)); }, a);
}

}  // namespace

std::string_view typeName(const DeviceValue& value) {
  static constexpr std::array<std::string_view, 5> kNames = {"an integer", "a boolean", "a string",
                                                             "a version", "a quantity"};
  return kNames[value.index()];
}

namespace {

using Term = DeviceSelector::Term;
using Kind = Term::Kind;

bool holds(Kind kind, int order) {
  switch (kind) {
    case Kind::kEqual:
      return order == 0;
    case Kind::kUnequal:
      return order != 0;
    case Kind::kLess:
      return order < 0;
    case Kind::kLessOrEqual:
      return order <= 0;
    case Kind::kGreater:
      return order > 0;
    default:
      return order >= 0;
  }
}

}  // namespace

Result<Value> DeviceSelector::Term::attribute(const DeviceInQuestion& question) const {
  if (kind == Kind::kCapacity) {
    const auto at = find(question.device.capacity, question.driver);
    if (at != question.device.capacity.end()) return Value(at->second.value);
    return fail(mangrove::Code::kNotFound, "device {} has no capacity {}/{}", question.device.name,
                domain, name);
  }
  const auto at = find(question.device.attributes, question.driver);
  if (at == question.device.attributes.end())
    return fail(mangrove::Code::kNotFound, "device {} has no attribute {}/{}", question.device.name,
                domain, name);
  const api::DeviceAttribute& got = at->second;
  if (got.number) return Value(*got.number);
  if (got.truth) return Value(*got.truth);
  if (got.text) return Value(*got.text);
  if (const auto version = got.version ? readVersion(*got.version) : std::nullopt)
    return Value(*version);
  return invalid("attribute {}/{} of device {} has no value that is known", domain, name,
                 question.device.name);
}

// What one side decides stands, whatever is wrong with the other.
Result<Value> DeviceSelector::Term::joined(const DeviceInQuestion& question) const {
  const bool decides = kind == Kind::kOr;
  std::optional<Error> trouble;
  for (const Ptr& part : parts) {
    const auto got = part->truth(question);
    if (got && *got == decides) return Value(decides);
    if (!got && !trouble) trouble = got.error();
  }
  if (trouble) return pass(*trouble);
  return Value(!decides);
}

Result<Value> DeviceSelector::Term::compared(const DeviceInQuestion& question) const {
  auto left = parts[0]->evaluate(question);
  if (!left) return left;
  for (size_t i = 1; i < parts.size(); i++) {
    auto right = parts[i]->evaluate(question);
    if (!right) return right;
    const auto got = compare(*left, *right);
    if (!got) return pass(got.error());
    if (kind == Kind::kCompareTo) return Value(static_cast<int64_t>(*got));
    if (kind != Kind::kIn) return Value(holds(kind, *got));
    if (*got == 0) return Value(true);
  }
  return Value(false);
}

Result<Value> DeviceSelector::Term::evaluate(const DeviceInQuestion& question) const {
  switch (kind) {
    case Kind::kConstant:
      return value;
    case Kind::kDriver:
      return Value(std::string(question.driver));
    case Kind::kAttribute:
    case Kind::kCapacity:
      return attribute(question);
    case Kind::kAnd:
    case Kind::kOr:
      return joined(question);
    case Kind::kNot: {
      const auto got = parts[0]->truth(question);
      if (!got) return pass(got.error());
      return Value(!*got);
    }
    default:
      return compared(question);
  }
}

Result<bool> DeviceSelector::matches(const DeviceInQuestion& question) const {
  return root_->truth(question);
}

}  // namespace mangrove::placement
