#include "api/select/field_selector.h"

#include <algorithm>

namespace mangrove::api {
namespace {

bool isEscapable(char c) {
  return c == '\\' || c == ',' || c == '=';
}

// Parts between commas that no backslash protects.
std::vector<std::string_view> splitTerms(std::string_view text) {
  std::vector<std::string_view> terms;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] == '\\') {
      i++;
    } else if (text[i] == ',') {
      terms.push_back(text.substr(start, i - start));
      start = i + 1;
    }
  }
  terms.push_back(text.substr(start));
  return terms;
}

Result<std::string> unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] == '\\') {
      if (++i == text.size()) return invalid("'{}' ends in a lone '\\'", text);
      if (!isEscapable(text[i])) return invalid("'\\{}' in '{}' is no escape", text[i], text);
    } else if (isEscapable(text[i])) {
      return invalid("'{}' in '{}' must be written '\\{}'", text[i], text, text[i]);
    }
    out.push_back(text[i]);
  }
  return out;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (isEscapable(c)) out.push_back('\\');
    out.push_back(c);
  }
  return out;
}

Result<FieldSelector::Term> parseTerm(std::string_view text) {
  const size_t at = text.find('=');
  if (at == std::string_view::npos)
    return invalid("'{}' must be field=value or field!=value", text);
  const bool equal = at == 0 || text[at - 1] != '!';
  const bool twice = equal && text.substr(at).starts_with("==");
  auto value = unescape(text.substr(at + (twice ? 2 : 1)));
  if (!value) return pass(value.error());
  return FieldSelector::Term{std::string(text.substr(0, equal ? at : at - 1)), equal,
                             *std::move(value)};
}

}  // namespace

Result<FieldSelector> FieldSelector::parse(std::string_view text) {
  auto parts = splitTerms(text);
  std::ranges::sort(parts);
  FieldSelector selector;
  for (std::string_view part : parts) {
    if (part.empty()) continue;
    auto term = parseTerm(part);
    if (!term) return term.error().in("field selector '{}'", text);
    selector.terms_.push_back(*std::move(term));
  }
  return selector;
}

FieldSelector FieldSelector::equals(std::string_view field, std::string_view value) {
  FieldSelector selector;
  selector.terms_.push_back({std::string(field), true, std::string(value)});
  return selector;
}

std::optional<std::string_view> FieldSelector::exact(std::string_view field) const {
  for (const Term& term : terms_)
    if (term.equal && term.field == field) return term.value;
  return std::nullopt;
}

std::string FieldSelector::text() const {
  std::string out;
  for (const Term& term : terms_)
    out.append(out.empty() ? "" : ",")
        .append(term.field)
        .append(term.equal ? "=" : "!=")
        .append(escaped(term.value));
  return out;
}

}  // namespace mangrove::api
