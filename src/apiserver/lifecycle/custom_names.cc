#include "apiserver/lifecycle/custom_names.h"

#include <fmt/core.h>

#include "apiserver/core/object.h"

namespace mangrove::apiserver {

namespace {

struct NameField {
  std::string_view key, reason;
  bool isKind;
};
constexpr NameField kFields[] = {
    {"plural", "PluralConflict", false},
    {"singular", "SingularConflict", false},
    {"kind", "KindConflict", true},
    {"listKind", "ListKindConflict", true},
};

void addText(std::set<std::string, std::less<>>& set, std::string_view text) {
  if (!text.empty()) set.emplace(text);
}

void object(NameVerdict& verdict, std::string_view reason, std::string_view name) {
  if (!verdict.good()) return;
  verdict.reason = reason;
  verdict.message = fmt::format("\"{}\" is already in use", name);
}

// All short names or none of them, as in Kubernetes.
void judgeShortNames(const json::Object& wanted, const NamesInUse& others, NameVerdict& verdict) {
  const json::Array* names = findArray(wanted, "shortNames");
  if (!names) return;
  bool free = true;
  for (const json::Value& name : *names) {
    if (!name.is_string() || !others.resources.contains(std::string_view(name.get_string())))
      continue;
    object(verdict, "ShortNamesConflict", name.get_string());
    free = false;
  }
  if (free) verdict.accepted["shortNames"] = *names;
}

}  // namespace

void NamesInUse::add(const json::Object& accepted) {
  for (const NameField& field : kFields)
    addText(field.isKind ? kinds : resources, textAt(accepted, field.key));
  if (const json::Array* names = findArray(accepted, "shortNames"))
    for (const json::Value& name : *names)
      if (name.is_string()) addText(resources, name.get_string());
}

NameVerdict judgeNames(const json::Object& wanted, const NamesInUse& others) {
  NameVerdict verdict;
  verdict.accepted = {{"plural", ""}, {"kind", ""}};
  for (const NameField& field : kFields) {
    const std::string_view name = textAt(wanted, field.key);
    if (name.empty()) continue;
    if ((field.isKind ? others.kinds : others.resources).contains(name)) {
      object(verdict, field.reason, name);
    } else {
      verdict.accepted[field.key] = name;
    }
  }
  judgeShortNames(wanted, others, verdict);
  if (const json::Array* categories = findArray(wanted, "categories"))
    verdict.accepted["categories"] = *categories;
  return verdict;
}

}  // namespace mangrove::apiserver
