// Pieces that many kinds share: selectors, ports, amounts, templates.
#include <fmt/core.h>

#include "apiserver/kinds/names.h"
#include "apiserver/kinds/object_meta.h"
#include "apiserver/kinds/validators.h"
#include "base/number/quantity.h"
#include "base/text/strings.h"

namespace mangrove::apiserver {
namespace {

void checkRequirement(const Inspect& requirement) {
  std::string_view key = requirement.text("key");
  requirement.check("key", qualifiedTrouble(key));
  std::string_view op = requirement.text("operator");
  bool hasValues = !requirement.array("values").empty();
  if (op == "In" || op == "NotIn") {
    if (!hasValues)
      requirement.required("values", "must be specified when `operator` is 'In' or 'NotIn'");
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (hasValues)
      requirement.forbidden("values",
                            "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  } else {
    requirement.invalid("operator", "not a valid selector operator");
  }
}

std::optional<Quantity> amountOf(const json::Value& value) {
  if (!value.is_string()) return std::nullopt;
  auto amount = Quantity::parse(value.get_string());
  return amount ? std::optional(*amount) : std::nullopt;
}

// Native resources have no domain or kubernetes.io; the rest are extended ones, which are counted
// and never shared.
bool isExtended(std::string_view name) {
  size_t slash = name.find('/');
  if (slash == std::string_view::npos) return false;
  std::string_view domain = name.substr(0, slash);
  return domain != "kubernetes.io" && !domain.ends_with(".kubernetes.io");
}

bool isHugePage(std::string_view name) {
  return name.starts_with("hugepages-");
}

void checkAmount(const FieldPath& at, std::string_view name, const json::Value& value,
                 FieldErrors& errors) {
  if (std::string trouble = qualifiedTrouble(name); !trouble.empty())
    errors.invalid(at, json::Value(name), trouble);
  std::optional<Quantity> amount = amountOf(value);
  if (!amount) return;
  if (amount->sign() < 0) errors.invalid(at, value, "must be greater than or equal to 0");
  if (isExtended(name) && !amount->isExact(0)) errors.invalid(at, value, "must be an integer");
}

}  // namespace

void checkSelector(const Inspect& selector) {
  validateLabels(selector.map("matchLabels"), selector.at().child("matchLabels"),
                 selector.errors());
  selector.each("matchExpressions", checkRequirement);
}

void checkPort(const Inspect& owner, std::string_view key) {
  owner.inRange(key, 1, 65535);
}

void checkCountOrPercent(const Inspect& owner, std::string_view key) {
  owner.notNegative(key);
  const json::Value* value = owner.find(key);
  if (value == nullptr || !value->is_string()) return;
  std::string_view text = value->get_string();
  auto percent =
      text.ends_with('%') ? parseInt<int>(text.substr(0, text.size() - 1)) : std::nullopt;
  if (!percent || *percent < 0)
    owner.invalid(key, "a valid percent string must be a number followed by '%' (e.g. '25%')");
  else if (*percent > 100)
    owner.invalid(key, "must not be greater than 100%");
}

void checkResourceAmounts(const Inspect& owner, std::string_view key) {
  FieldPath at = owner.at().child(key);
  for (const auto& entry : owner.map(key))
    checkAmount(at.key(entry.key()), entry.key(), entry.value(), owner.errors());
}

void checkResources(const Inspect& resources) {
  checkResourceAmounts(resources, "limits");
  checkResourceAmounts(resources, "requests");
  const json::Object& limits = resources.map("limits");
  FieldPath at = resources.at().child("requests");
  for (const auto& entry : resources.map("requests")) {
    std::string_view name = entry.key();
    std::optional<Quantity> request = amountOf(entry.value());
    const json::Value* bound = limits.if_contains(name);
    bool isCounted = isExtended(name) || isHugePage(name);
    if (bound == nullptr) {
      if (isCounted)
        resources.errors().required(resources.at().child("limits"),
                                    "Limit must be set for non overcommitable resources");
      continue;
    }
    std::optional<Quantity> limit = amountOf(*bound);
    if (!request || !limit) continue;
    if (*request > *limit)
      resources.errors().invalid(
          at, entry.value(),
          fmt::format("must be less than or equal to {} limit of {}", name, limit->text()));
    else if (isCounted && *request != *limit)
      resources.errors().invalid(
          at, entry.value(), fmt::format("must be equal to {} limit of {}", name, limit->text()));
  }
}

void checkPodTemplate(const Inspect& parent, std::string_view key) {
  Inspect inside = parent.child(key);
  Inspect meta = inside.child("metadata");
  validateLabels(meta.map("labels"), meta.at().child("labels"), parent.errors());
  Inspect spec = inside.child("spec");
  checkPodSpec(spec);
}

}  // namespace mangrove::apiserver
