// Reads selectors. A part of CEL is served; what is beyond is refused with what would be read here.
#include <array>

#include <fmt/format.h>

#include "base/text/strings.h"
#include "placement/dra/selector_term.h"

namespace mangrove::placement {
namespace {

using Term = DeviceSelector::Term;
using Kind = Term::Kind;
using Ptr = Term::Ptr;

Ptr constant(DeviceValue value) {
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
