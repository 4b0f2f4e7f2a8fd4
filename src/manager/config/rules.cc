#include "manager/config/rules.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include <fmt/core.h>

#include "base/number/quantity.h"
#include "base/text/nearest.h"
#include "base/text/strings.h"

namespace mangrove::manager {
namespace {

using Visit = std::function<void(const std::string& path, const json::Value& value)>;

std::string below(std::string_view path, std::string_view member) {
  if (path.empty()) return std::string(member);
  const bool plain = member.find_first_of(".[]/") == member.npos;
  return plain ? fmt::format("{}.{}", path, member) : fmt::format("{}[{}]", path, member);
}

// Every value that a rule's path names: "*" is any member, "[]" any element.
void visitPath(const json::Value& value, std::string_view pattern, const std::string& path,
               const Visit& visit) {
  if (pattern.empty()) return visit(path, value);
  if (pattern.starts_with("[]")) {
    if (!value.is_array()) return;
    size_t index = 0;
    for (const auto& element : value.get_array()) {
      const auto rest = pattern.substr(std::min<size_t>(pattern.size(), 2));
      visitPath(element, rest.starts_with('.') ? rest.substr(1) : rest,
                fmt::format("{}[{}]", path, index++), visit);
    }
    return;
  }
  if (!value.is_object()) return;
  const size_t end = std::min(pattern.find_first_of(".["), pattern.size());
  const auto name = pattern.substr(0, end);
  auto rest = pattern.substr(end);
  if (rest.starts_with('.')) rest.remove_prefix(1);
  for (const auto& [key, member] : value.get_object())
    if (name == "*" || key == name) visitPath(member, rest, below(path, key), visit);
}

std::optional<double> numberOf(const json::Value& value) {
  if (!value.is_number()) return std::nullopt;
  return value.to_number<double>();
}

void checkWords(const FieldRule& rule, const std::string& path, const json::Value& value,
                FindingsAbout& out) {
  if (!value.is_string()) return;
  const auto known = split(rule.words, '|');
  if (rule.content == Content::kNotEmpty && value.get_string().empty())
    return out.add(Severity::kError, FindingKind::kRange, path,
                   fmt::format("empty, want one of {}", join(known, ", ")));
  const std::string_view word(value.get_string());
  if (std::find(known.begin(), known.end(), word) != known.end()) return;
  out.add(Severity::kWarning, FindingKind::kUnknown, path,
          fmt::format("'{}' is none of {}{}", word, join(known, ", "), didYouMean(word, known)));
}

void checkText(const FieldRule& rule, const std::string& path, std::string_view text,
               FindingsAbout& out) {
  const auto amount = Quantity::parse(text);
  if (!amount)
    return out.add(Severity::kError, FindingKind::kRange, path,
                   fmt::format("'{}' is no quantity, want a percentage (a number from 0 to 100) or "
                               "bits per second such as \"100M\"",
                               text));
  const double low = rule.content == Content::kBandwidth ? 0 : rule.runtime.low;
  if (amount->sign() < 0 && low >= 0)
    out.add(Severity::kError, FindingKind::kRange, path,
            fmt::format("'{}' is negative, want at least 0", text));
}

void checkValue(const FieldRule& rule, const Bounds& bounds, const std::string& path,
                const json::Value& value, FindingsAbout& out) {
  if (!rule.words.empty()) return checkWords(rule, path, value, out);
  if (rule.content != Content::kPlain && value.is_string())
    return checkText(rule, path, std::string_view(value.get_string()), out);
  const auto number = numberOf(value);
  if (number && !bounds.holds(*number))
    out.add(Severity::kError, FindingKind::kRange, path,
            fmt::format("{:g} is out of range, want {}", *number, bounds.text()));
}

std::optional<double> valueAt(const json::Value& strategy, const std::string& path) {
  std::optional<double> found;
  visitPath(strategy, path, "",
            [&](const std::string&, const json::Value& v) { found = numberOf(v); });
  return found;
}

// Both sides must be known; what one side's default would be is already merged in.
void checkOrder(const OrderRule& rule, const json::Value& strategy, std::string_view at,
                FindingsAbout& out) {
  const auto upper = valueAt(strategy, rule.upper);
  const auto lower = valueAt(strategy, rule.lower);
  if (!upper || !lower || *upper > *lower) return;
  out.add(Severity::kError, FindingKind::kRange, below(at, rule.lower),
          fmt::format("{:g} is not below {} ({:g}), want it lower", *lower, rule.upper, *upper));
}

// The names that may follow `prefix` in the rules' paths; "*" among them means any.
std::vector<std::string_view> namesBelow(const KeyRules& rules, std::string_view prefix) {
  std::vector<std::string_view> out;
  for (const auto& rule : rules.fields) {
    std::string_view rest = rule.path;
    if (!rest.starts_with(prefix)) continue;
    rest.remove_prefix(prefix.size());
    const auto name = rest.substr(0, std::min(rest.find_first_of(".["), rest.size()));
    if (!name.empty() && std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
  }
  return out;
}

class NameCheck {
 public:
  NameCheck(const KeyRules& rules, FindingsAbout& out) : rules_(rules), out_(out) {}

  // `prefix` is the pattern so far ("beClass.", "blocks[]."), `also` names that are fine here too.
  void object(const json::Value& value, const std::string& prefix, const std::string& path,
              std::vector<std::string_view> also = {}) {
    if (!value.is_object()) return;
    auto known = namesBelow(rules_, prefix);
    if (known.empty()) return;
    known.insert(known.end(), also.begin(), also.end());
    for (const auto& [key, member] : value.get_object()) check(key, member, known, prefix, path);
  }

 private:
  void check(std::string_view key, const json::Value& member,
             const std::vector<std::string_view>& known, const std::string& prefix,
             const std::string& path) {
    if (known.front() == "*") return object(member, prefix + "*.", below(path, key));
    const auto same = std::find_if(known.begin(), known.end(), [&](std::string_view name) {
      return equalIgnoringCase(name, key);
    });
    if (same == known.end())
      return out_.add(Severity::kWarning, FindingKind::kUnknown, below(path, key),
                      fmt::format("nobody reads '{}'{}", key, didYouMean(key, known)));
    inside(member, prefix + std::string(*same), below(path, key));
  }
  void inside(const json::Value& member, const std::string& pattern, const std::string& path) {
    if (!member.is_array()) return object(member, pattern + ".", path);
    size_t index = 0;
    for (const auto& element : member.get_array())
      object(element, pattern + "[].", fmt::format("{}[{}]", path, index++));
  }

  const KeyRules& rules_;
  FindingsAbout& out_;
};

void checkEntries(NameCheck& check, const json::Value& document, std::string_view list) {
  const json::Value* entries = document.get_object().if_contains(list);
  if (entries == nullptr || !entries->is_array()) return;
  size_t index = 0;
  for (const auto& entry : entries->get_array())
    check.object(entry, "", fmt::format("{}[{}]", list, index++), {"name", "nodeSelector"});
}

void checkNestedTop(const json::Value& document, FindingsAbout& out) {
  static constexpr std::array<std::string_view, 2> kTop = {"clusterStrategy", "nodeStrategies"};
  for (const auto& [key, member] : document.get_object()) {
    const std::string_view name = key;
    const bool known = std::any_of(kTop.begin(), kTop.end(),
                                   [&](auto top) { return equalIgnoringCase(top, name); });
    if (known) continue;
    out.add(Severity::kWarning, FindingKind::kUnknown, std::string(name),
            fmt::format("nobody reads '{}'{}", name, didYouMean(name, kTop)));
  }
}

}  // namespace

std::string Bounds::text() const {
  if (std::isinf(high))
    return aboveLow ? fmt::format("above {:g}", low) : fmt::format("at least {:g}", low);
  return aboveLow ? fmt::format("above {:g}, at most {:g}", low, high)
                  : fmt::format("{:g} to {:g}", low, high);
}

void checkNames(const KeyRules& rules, const json::Value& document, FindingsAbout& out) {
  if (!document.is_object()) return;
  NameCheck check(rules, out);
  if (!rules.nested) {
    check.object(document, "", "", {"nodeConfigs"});
    return checkEntries(check, document, "nodeConfigs");
  }
  checkNestedTop(document, out);
  if (const auto* cluster = document.get_object().if_contains("clusterStrategy"))
    check.object(*cluster, "", "clusterStrategy");
  checkEntries(check, document, "nodeStrategies");
}

void checkRanges(std::string_view key, const json::Value& said, const json::Value& effective,
                 Ranges ranges, std::string_view at, FindingsAbout& out) {
  const KeyRules* rules = rulesOf(key);
  if (rules == nullptr) return;
  for (const auto& rule : rules->fields) {
    const Bounds& bounds = ranges == Ranges::kRuntime ? rule.runtime : rule.admission;
    visitPath(said, rule.path, std::string(at),
              [&](const std::string& path, const json::Value& value) {
                checkValue(rule, bounds, path, value, out);
              });
  }
  for (const auto& order : rules->orders) checkOrder(order, effective, at, out);
}

}  // namespace mangrove::manager
