#include "apiserver/output/json_path.h"

#include <optional>

#include "base/text/strings.h"

namespace mangrove::apiserver {

namespace {

enum class Kind { kMember, kIndex, kEvery, kFilter };
enum class Compare { kExists, kEqual, kNotEqual };

// A constant in a filter, compared by its text and by whether it was quoted.
struct Literal {
  std::string text;
  bool quoted = false;
};

bool equals(json::View view, const Literal& literal) {
  if (view.isString()) return literal.quoted && *view.string() == literal.text;
  if (literal.quoted) return false;
  if (auto flag = view.boolean()) return literal.text == (*flag ? "true" : "false");
  return view.isNumber() && view.numberText() == literal.text;
}

}  // namespace

struct JsonPath::Step {
  Kind kind = Kind::kMember;
  std::string name;   // kMember
  int64_t index = 0;  // kIndex; negative counts from the end
  JsonPath inner;     // kFilter: what is compared
  Compare compare = Compare::kExists;
  Literal literal;

  bool holds(json::View element) const {
    const json::View value = inner.first(element);
    if (compare == Compare::kExists) return value.exists();
    return value.exists() && equals(value, literal) == (compare == Compare::kEqual);
  }

  void apply(json::View from, std::vector<json::View>& out) const {
    switch (kind) {
      case Kind::kMember:
        if (const json::View member = from[name]; member.exists()) out.push_back(member);
        return;
      case Kind::kIndex: {
        const auto size = static_cast<int64_t>(from.size());
        const int64_t at = index < 0 ? size + index : index;
        if (from.isArray() && at >= 0 && at < size) out.push_back(from.at(static_cast<size_t>(at)));
        return;
      }
      case Kind::kEvery:
        for (json::View element : from.elements()) out.push_back(element);
        for (auto [key, value] : from.members()) out.push_back(value);
        return;
      case Kind::kFilter:
        for (json::View element : from.elements())
          if (holds(element)) out.push_back(element);
    }
  }
};

namespace {

class PathReader {
 public:
  explicit PathReader(std::string_view text) : whole_(text), rest_(text) {}

  Result<std::vector<JsonPath::Step>> steps() {
    std::vector<JsonPath::Step> out;
    while (!rest_.empty()) {
      auto step = rest_[0] == '[' ? bracket() : member();
      if (!step) return pass(step.error());
      out.push_back(std::move(*step));
    }
    return out;
  }

 private:
  Failure trouble(std::string_view want) const {
    return invalid("path '{}' at '{}': want {}", whole_, rest_, want);
  }

  // Dots inside a name are escaped: .metadata.labels.app\.kubernetes\.io/name
  Result<JsonPath::Step> member() {
    if (rest_[0] == '.') rest_.remove_prefix(1);
    JsonPath::Step step;
    while (!rest_.empty() && rest_[0] != '.' && rest_[0] != '[') {
      if (rest_[0] == '\\' && rest_.size() > 1) rest_.remove_prefix(1);
      step.name += rest_[0];
      rest_.remove_prefix(1);
    }
    if (step.name.empty()) return trouble("a member's name");
    if (step.name == "*") step.kind = Kind::kEvery;
    return step;
  }

  // The matching bracket; those inside quotes do not count.
  std::optional<std::string_view> takeBracket() {
    char quote = 0;
    for (size_t i = 1; i < rest_.size(); ++i) {
      const char c = rest_[i];
      if (quote != 0) {
        quote = c == quote ? '\0' : quote;
      } else if (c == '\'' || c == '"') {
        quote = c;
      } else if (c == ']') {
        const std::string_view inside = trim(rest_.substr(1, i - 1));
        rest_.remove_prefix(i + 1);
        return inside;
      }
    }
    return std::nullopt;
  }

  Result<JsonPath::Step> bracket() {
    const std::string_view before = rest_;
    const auto inside = takeBracket();
    if (!inside) return trouble("a closing ']'");
    if (inside->starts_with("?(") && inside->ends_with(")"))
      return filter(trim(inside->substr(2, inside->size() - 3)));
    JsonPath::Step step;
    if (*inside == "*") {
      step.kind = Kind::kEvery;
    } else if (auto name = unquoted(*inside)) {
      step.name = std::string(*name);
    } else if (auto index = parseInt<int64_t>(*inside)) {
      step.kind = Kind::kIndex;
      step.index = *index;
    } else {
      rest_ = before;
      return trouble("a number, a quoted name, '*' or a filter in brackets");
    }
    return step;
  }

  static std::optional<std::string_view> unquoted(std::string_view text) {
    const bool quoted =
        text.size() >= 2 && (text[0] == '\'' || text[0] == '"') && text.back() == text[0];
    return quoted ? std::optional(text.substr(1, text.size() - 2)) : std::nullopt;
  }

  // @.type=="Ready"
  Result<JsonPath::Step> filter(std::string_view text) {
    JsonPath::Step step;
    step.kind = Kind::kFilter;
    size_t at = text.find("==");
    if (at == std::string_view::npos) at = text.find("!=");
    std::string_view left = trim(text.substr(0, at));
    if (at != std::string_view::npos) {
      step.compare = text[at] == '=' ? Compare::kEqual : Compare::kNotEqual;
      const std::string_view right = trim(text.substr(at + 2));
      const auto name = unquoted(right);
      step.literal = {std::string(name.value_or(right)), name.has_value()};
    }
    if (!left.starts_with('@')) return trouble("a filter that starts with '@'");
    auto inner = JsonPath::parse(left.substr(1));
    if (!inner) return pass(inner.error());
    step.inner = std::move(*inner);
    return step;
  }

  std::string_view whole_, rest_;
};

}  // namespace

Result<JsonPath> JsonPath::parse(std::string_view text) {
  text = trim(text);
  if (text.starts_with('{') && text.ends_with('}')) text = trim(text.substr(1, text.size() - 2));
  if (text.starts_with('$')) text.remove_prefix(1);
  if (text == ".") text = "";
  auto steps = PathReader(text).steps();
  if (!steps) return pass(steps.error());
  JsonPath path;
  for (Step& step : *steps) path.steps_.push_back(std::make_shared<const Step>(std::move(step)));
  return path;
}

std::vector<json::View> JsonPath::all(json::View object) const {
  std::vector<json::View> found;
  if (object.exists()) found.push_back(object);
  for (const auto& step : steps_) {
    std::vector<json::View> next;
    for (json::View view : found) step->apply(view, next);
    found = std::move(next);
  }
  return found;
}

json::View JsonPath::first(json::View object) const {
  const auto found = all(object);
  return found.empty() ? json::View() : found.front();
}

}  // namespace mangrove::apiserver
