#include "placement/dra/selector.h"

#include <array>
#include <variant>
#include <vector>

#include "base/text/strings.h"

namespace mangrove::placement {
namespace {

struct Version {
  std::array<int64_t, 3> parts{};
  std::string pre;  // "rc.1"; a version with one comes before that without
  bool operator==(const Version&) const = default;
};

std::optional<Version> readVersion(std::string_view text) {
  Version out;
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

using Value = std::variant<int64_t, bool, std::string, Version, Quantity>;

template <class T>
int order(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}
int order(const Version& a, const Version& b) {
  if (const int byParts = order(a.parts, b.parts); byParts != 0) return byParts;
  if (a.pre.empty() != b.pre.empty()) return a.pre.empty() ? 1 : -1;
  return order(a.pre, b.pre);
}

std::string_view typeName(const Value& value) {
  static constexpr std::array<std::string_view, 5> kNames = {"an integer", "a boolean", "a string",
                                                             "a version", "a quantity"};
  return kNames[value.index()];
}

Result<int> compare(const Value& a, const Value& b) {
  if (a.index() != b.index()) return invalid("{} and {} do not compare", typeName(a), typeName(b));
  return std::visit(
      [&](const auto& left) { return order(left, std::get<std::decay_t<decltype(left)>>(b)); }, a);
}

}  // namespace

// One node of the expression: a constant, something of the device, or an operation on others.
struct DeviceSelector::Term {
  enum class Kind : uint8_t {
    kConstant,
    kDriver,
    kAttribute,
    kCapacity,
    kCompareTo,  // -1, 0 or 1
    kNot,
    kAnd,
    kOr,
    kIn,  // the first among the others
    kEqual,
    kUnequal,
    kLess,
    kLessOrEqual,
    kGreater,
    kGreaterOrEqual,
  };
  using Ptr = std::shared_ptr<const Term>;
  Kind kind = Kind::kConstant;
  Value value = int64_t{0};
  std::string domain, name;  // of attributes and capacity
  std::vector<Ptr> parts;

  Result<Value> evaluate(const DeviceInQuestion& question) const;
  Result<bool> truth(const DeviceInQuestion& question) const {
    auto got = evaluate(question);
    if (!got) return pass(got.error());
    if (const bool* out = std::get_if<bool>(&*got)) return *out;
    return invalid("{} is no condition", typeName(*got));
  }

 private:
  template <class Map>
  auto find(const Map& map, std::string_view driver) const {
    auto at = map.find(domain + "/" + name);
    // Names without a domain are the driver's own.
    if (at == map.end() && domain == driver) at = map.find(name);
    return at;
  }
  Result<Value> attribute(const DeviceInQuestion& question) const;
  Result<Value> joined(const DeviceInQuestion& question) const;
  Result<Value> compared(const DeviceInQuestion& question) const;
};

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

// ---- reading ------------------------------------------------------------------------------------

namespace {

using Ptr = Term::Ptr;

Ptr constant(Value value) {
  auto out = std::make_shared<Term>();
  out->value = std::move(value);
  return out;
}
Ptr operation(Kind kind, std::vector<Ptr> parts) {
  auto out = std::make_shared<Term>();
  out->kind = kind;
  out->parts = std::move(parts);
  return out;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<DeviceSelector> run() {
    Ptr root = either();
    skip();
    if (trouble_.empty() && at_ < text_.size()) complain("a comparison that ends here");
    if (!trouble_.empty()) return invalid("{}", trouble_);
    return DeviceSelector(std::move(root));
  }

 private:
  static constexpr int kDeepest = 64;

  std::string_view rest() const { return text_.substr(at_); }
  void skip() {
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      at_++;
  }
  bool take(std::string_view token) {
    skip();
    if (!rest().starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  Ptr complain(std::string_view want) {
    if (trouble_.empty()) {
      skip();
      const std::string_view found = rest().empty() ? "the end" : rest().substr(0, 24);
      trouble_ = fmt::format(
          "selector '{}': found '{}', want {}; served are comparisons of device.driver, "
          "device.attributes and device.capacity, joined by &&, || and !",
          text_, found, want);
    }
    return constant(false);
  }
  bool failed() const { return !trouble_.empty(); }

  Ptr either() {
    if (++depth_ > kDeepest) return complain("fewer parentheses");
    std::vector<Ptr> parts{both()};
    while (!failed() && take("||")) parts.push_back(both());
    depth_--;
    return parts.size() == 1 ? parts.front() : operation(Kind::kOr, std::move(parts));
  }
  Ptr both() {
    std::vector<Ptr> parts{single()};
    while (!failed() && take("&&")) parts.push_back(single());
    return parts.size() == 1 ? parts.front() : operation(Kind::kAnd, std::move(parts));
  }
  Ptr single() {
    skip();
    if (rest().starts_with("!") && !rest().starts_with("!=")) {
      at_++;
      if (++depth_ > kDeepest) return complain("fewer negations");
      Ptr out = operation(Kind::kNot, {single()});
      depth_--;
      return out;
    }
    return comparison();
  }
  Ptr comparison() {
    Ptr left = operand();
    struct Operator {
      std::string_view token;
      Kind kind;
    };
    static constexpr std::array<Operator, 6> kOperators = {{{"==", Kind::kEqual},
                                                            {"!=", Kind::kUnequal},
                                                            {"<=", Kind::kLessOrEqual},
                                                            {">=", Kind::kGreaterOrEqual},
                                                            {"<", Kind::kLess},
                                                            {">", Kind::kGreater}}};
    if (failed()) return left;
    for (const auto& [token, kind] : kOperators)
      if (take(token)) return operation(kind, {left, operand()});
    skip();
    if (rest().starts_with("in") && at_ + 2 < text_.size() && !isNameLetter(text_[at_ + 2])) {
      at_ += 2;
      return among(std::move(left));
    }
    return left;
  }
  Ptr among(Ptr left) {
    if (!take("[")) return complain("a list of constants after 'in'");
    std::vector<Ptr> parts{std::move(left)};
    if (take("]")) return operation(Kind::kIn, std::move(parts));
    do parts.push_back(operand());
    while (!failed() && take(","));
    if (!failed() && !take("]")) return complain("',' or ']'");
    return operation(Kind::kIn, std::move(parts));
  }

  Ptr operand() {
    Ptr out = plain();
    while (!failed() && take(".")) out = method(std::move(out));
    return out;
  }
  // compareTo, isGreaterThan, isLessThan.
  Ptr method(Ptr left) {
    const std::string_view called = name();
    const bool known = called == "compareTo" || called == "isGreaterThan" || called == "isLessThan";
    if (!known) {
      at_ -= called.size();
      return complain("compareTo(…), isGreaterThan(…) or isLessThan(…)");
    }
    if (!take("(")) return complain("'('");
    Ptr right = operand();
    if (!failed() && !take(")")) return complain("')'");
    if (called == "compareTo") return operation(Kind::kCompareTo, {std::move(left), right});
    return operation(called == "isLessThan" ? Kind::kLess : Kind::kGreater,
                     {std::move(left), right});
  }

  static bool isNameLetter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }
  std::string_view name() {
    skip();
    const size_t from = at_;
    while (at_ < text_.size() && isNameLetter(text_[at_])) at_++;
    return text_.substr(from, at_ - from);
  }

  Ptr plain() {
    skip();
    if (take("(")) {
      Ptr out = either();
      if (!failed() && !take(")")) return complain("')'");
      return out;
    }
    if (rest().starts_with("'") || rest().starts_with("\"")) return constant(quoted());
    if (!rest().empty() && (rest()[0] == '-' || (rest()[0] >= '0' && rest()[0] <= '9')))
      return integer();
    const size_t from = at_;
    const std::string_view word = name();
    if (word == "true" || word == "false") return constant(word == "true");
    if (word == "quantity" || word == "semver") return made(word);
    if (word == "device") return ofDevice();
    at_ = from;
    return complain("device.driver, device.attributes[…], device.capacity[…] or a constant");
  }
  Ptr integer() {
    const size_t from = at_;
    if (text_[at_] == '-') at_++;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') at_++;
    const auto number = parseInt<int64_t>(text_.substr(from, at_ - from));
    if (number && (at_ == text_.size() || (text_[at_] != '.' && !isNameLetter(text_[at_]))))
      return constant(*number);
    at_ = from;
    return complain("an integer of 64 bits");
  }
  // Escapes as far as they stand for one letter.
  std::string quoted() {
    skip();
    std::string out;
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') return complain("a string in quotes"), out;
    for (at_++; at_ < text_.size() && text_[at_] != quote; at_++) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) at_++;
      out += text_[at_];
    }
    if (at_ >= text_.size()) return complain("the end of the string"), out;
    at_++;
    return out;
  }
  Ptr made(std::string_view what) {
    if (!take("(")) return complain("'('");
    const std::string text = quoted();
    if (!failed() && !take(")")) return complain("')'");
    if (failed()) return constant(false);
    if (what == "semver") {
      if (const auto version = readVersion(text)) return constant(*version);
      return complain(fmt::format("a version such as 1.2.3 instead of '{}'", text));
    }
    if (const auto quantity = Quantity::parse(text)) return constant(*quantity);
    return complain(fmt::format("a quantity such as 40Gi instead of '{}'", text));
  }
  Ptr ofDevice() {
    if (!take(".")) return complain("'.'");
    const std::string_view part = name();
    auto out = std::make_shared<Term>();
    if (part == "driver") {
      out->kind = Kind::kDriver;
      return out;
    }
    if (part != "attributes" && part != "capacity") {
      at_ -= part.size();
      return complain("driver, attributes or capacity");
    }
    out->kind = part == "attributes" ? Kind::kAttribute : Kind::kCapacity;
    if (!take("[")) return complain("a domain, as in device.attributes['gpu.example.com']");
    out->domain = quoted();
    if (!failed() && !take("]")) return complain("']'");
    if (failed()) return out;
    if (take("[")) {
      out->name = quoted();
      if (!failed() && !take("]")) return complain("']'");
      return out;
    }
    if (!take(".")) return complain("the name of an attribute");
    out->name = std::string(name());
    return out->name.empty() ? complain("the name of an attribute") : out;
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  std::string trouble_;
};

}  // namespace

Result<DeviceSelector> parseDeviceSelector(std::string_view expression) {
  return Parser(expression).run();
}

}  // namespace mangrove::placement
