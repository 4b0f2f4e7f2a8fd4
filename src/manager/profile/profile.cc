#include "manager/profile/profile.h"

#include "api/annotations/annotation.h"
#include "api/wire/names.h"
#include "base/text/strings.h"

namespace mangrove::manager {
namespace {

// Absent means everything here, unlike in most other selectors of Kubernetes.
Result<api::Selector> compileOrAll(const std::optional<api::LabelSelector>& selector) {
  if (!selector) return api::Selector();
  return api::compile(*selector);
}

int32_t precedenceOf(const api::Annotations& annotations) {
  const auto text = annotations.get(kProfilePriority);
  return text ? parseInt<int32_t>(*text).value_or(0) : 0;
}

}  // namespace

Result<int> percentOf(const std::optional<api::IntOrString>& probability) {
  if (!probability) return 100;
  if (!probability->isText) return probability->number;
  const std::string_view text = probability->text;
  if (!text.ends_with('%')) return invalid("probability '{}': want 30 or \"30%\"", text);
  auto percent = api::parseGoInt(text.substr(0, text.size() - 1), 32);
  if (!percent) return percent.error().in("probability '{}'", text);
  return static_cast<int>(*percent);
}

bool Profile::selects(const api::Labels* ns, const api::Labels& pod) const {
  if (!trouble.empty()) return false;
  if (spec.namespaceSelector && (ns == nullptr || !namespaces.matches(*ns))) return false;
  return pods.matches(pod);
}

Profile compileProfile(const api::ColocationProfile& object) {
  Profile out;
  out.name = object.meta.name.str();
  out.spec = object.spec;
  out.percent = percentOf(object.spec.probability);
  out.skipsResources = object.meta.annotations.has(api::annotation::kSkipUpdateResources);
  out.precedence = precedenceOf(object.meta.annotations);
  out.stopsOnMatch = object.meta.annotations.get(kProfileStopOnMatch) == "true";
  if (object.spec.patch && !object.spec.patch->text.empty())
    out.patch = json::parse(object.spec.patch->text).value_or(json::Value());
  auto pods = compileOrAll(object.spec.selector);
  auto namespaces = compileOrAll(object.spec.namespaceSelector);
  if (!pods) out.trouble = pods.error().in("selector").value().text();
  if (!namespaces) out.trouble = namespaces.error().in("namespaceSelector").value().text();
  if (pods) out.pods = std::move(*pods);
  if (namespaces) out.namespaces = std::move(*namespaces);
  return out;
}

}  // namespace mangrove::manager
