// Label and field selectors: what parses prints to a text that parses to the same selector, and
// matching agrees with a naive matcher over plain maps. Input: the selector on the first line, then
// one label "key=value" per line.
#include <charconv>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "api/select/field_selector.h"
#include "api/select/label_selector.h"
#include "api/select/selector.h"
#include "base/check.h"
#include "base/text/strings.h"

using namespace mangrove;
using namespace mangrove::api;

namespace {

using Map = std::map<std::string, std::string>;

bool naiveOrder(const std::string& text, const Requirement& r) {
  int64_t value = 0, bound = 0;
  const std::string limit = r.values()[0].str();
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  std::from_chars(limit.data(), limit.data() + limit.size(), bound);
  return r.op() == Operator::kGreater ? value > bound : value < bound;
}

bool naiveMatch(const Map& labels, const Requirement& r) {
  auto at = labels.find(r.key().str());
  const bool there = at != labels.end();
  bool listed = false;
  for (Interned value : r.values()) listed |= there && at->second == value.view();
  switch (r.op()) {
    case Operator::kIn:
    case Operator::kEquals:
    case Operator::kDoubleEquals:
      return listed;
    case Operator::kNotIn:
    case Operator::kNotEquals:
      return !listed;
    case Operator::kExists:
      return there;
    case Operator::kDoesNotExist:
      return !there;
    case Operator::kGreater:
    case Operator::kLess:
      return there && naiveOrder(at->second, r);
  }
  return false;
}

void checkLabelSelector(std::string_view text, const Map& map, const Labels& labels) {
  auto selector = Selector::parse(text);
  if (!selector) return;
  auto again = Selector::parse(selector->text());
  CHECK(again, "{}", again.error().text());
  CHECK(*again == *selector, "{} is not {}", again->text(), selector->text());
  bool all = true;
  for (const Requirement& requirement : selector->requirements())
    all = naiveMatch(map, requirement) && all;
  CHECK(selector->matches(labels) == all, "{}", selector->text());
}

void checkFieldSelector(std::string_view text, const Map& map) {
  auto selector = FieldSelector::parse(text);
  if (!selector) return;
  auto again = FieldSelector::parse(selector->text());
  CHECK(again, "{}", again.error().text());
  const auto valueOf = [&](std::string_view field) {
    auto at = map.find(std::string(field));
    return at == map.end() ? std::string() : at->second;
  };
  CHECK(selector->matches(valueOf) == again->matches(valueOf), "{}", selector->text());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 4096) return 0;
  const auto lines = split(std::string_view(reinterpret_cast<const char*>(data), size), '\n');
  Map map;
  Labels labels;
  for (size_t i = 1; i < lines.size(); i++) {
    const Halves label = cut(lines[i], '=');
    map[std::string(label.before)] = std::string(label.after);
    labels.set(label.before, label.after);
  }
  checkLabelSelector(lines[0], map, labels);
  checkFieldSelector(lines[0], map);
  return 0;
}
