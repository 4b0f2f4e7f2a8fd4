// The rules whose answer for a container may be the pod's: what must be set is set by one of them,
// and what either sets must be right.
#include <fmt/core.h>

#include "apiserver/core/object.h"
#include "apiserver/pod_security/checks.h"
#include "apiserver/pod_security/wording.h"

namespace mangrove::apiserver::pod_security {

namespace {

const json::Value* member(const json::Object* object, std::string_view key) {
  return object ? object->if_contains(key) : nullptr;
}

std::string seccompType(const json::Object* security) {
  const json::Object* profile = security ? findObject(*security, "seccompProfile") : nullptr;
  return profile ? std::string(textAt(*profile, "type")) : "";
}

bool hasSeccomp(const json::Object* security) {
  return security && findObject(*security, "seccompProfile");
}

bool isGoodSeccomp(std::string_view type) {
  return type == "RuntimeDefault" || type == "Localhost";
}

bool isGoodAnnotation(std::string_view value) {
  return value == "runtime/default" || value == "docker/default" || value.starts_with("localhost/");
}

// Containers without an answer of their own.
template <class Has>
std::vector<std::string> silent(const Pod& pod, Has has) {
  std::vector<std::string> out;
  for (const auto& container : pod.containers())
    if (!has(container.security)) out.push_back(container.name);
  return out;
}

}  // namespace

Broken seccompAnnotations(const Pod& pod) {
  const json::Object* annotations = findObject(pod.metadata(), "annotations");
  if (!annotations) return std::nullopt;
  std::vector<std::string> bad;
  const auto look = [&](const std::string& key) {
    const json::Value* value = annotations->if_contains(key);
    if (value && value->is_string() && !isGoodAnnotation(value->get_string()))
      bad.push_back(fmt::format("{}=\"{}\"", key, std::string_view(value->get_string())));
  };
  look("seccomp.security.alpha.kubernetes.io/pod");
  for (const auto& container : pod.containers())
    look("container.seccomp.security.alpha.kubernetes.io/" + container.name);
  if (bad.empty()) return std::nullopt;
  return fmt::format("forbidden {} {}", bad.size() == 1 ? "annotation" : "annotations",
                     joined(bad, ", "));
}

Broken seccompForbidden(const Pod& pod) {
  const Setters setters = settersOf(pod, [](const json::Object* security) {
    return hasSeccomp(security) && !isGoodSeccomp(seccompType(security)) ? seccompType(security)
                                                                         : std::string();
  });
  if (setters.values.empty()) return std::nullopt;
  return fmt::format("{} must not set securityContext.seccompProfile.type to {}", setters.who(),
                     quoted(setters.values));
}

Broken seccompRequired(const Pod& pod) {
  if (pod.isWindows() && pod.minor() >= 25) return std::nullopt;
  if (auto forbidden = seccompForbidden(pod)) return forbidden;
  if (isGoodSeccomp(seccompType(pod.security()))) return std::nullopt;
  const auto missing = silent(pod, hasSeccomp);
  if (missing.empty()) return std::nullopt;
  return fmt::format(
      "pod or {} must set securityContext.seccompProfile.type to \"RuntimeDefault\" or "
      "\"Localhost\"",
      containers(missing));
}

Broken nonRoot(const Pod& pod) {
  if (pod.hasOwnUsers() && pod.minor() >= 35) return std::nullopt;
  const Setters setters = settersOf(pod, [](const json::Object* security) {
    const json::Value* value = member(security, "runAsNonRoot");
    return value && value->is_bool() && !value->get_bool() ? "false" : "";
  });
  if (!setters.values.empty())
    return fmt::format("{} must not set securityContext.runAsNonRoot=false", setters.who());
  const json::Value* whole = member(pod.security(), "runAsNonRoot");
  if (whole && whole->is_bool()) return std::nullopt;  // true: false was refused above
  const auto missing = silent(pod, [](const json::Object* security) {
    const json::Value* value = member(security, "runAsNonRoot");
    return value && value->is_bool();
  });
  if (missing.empty()) return std::nullopt;
  return fmt::format("pod or {} must set securityContext.runAsNonRoot=true", containers(missing));
}

}  // namespace mangrove::apiserver::pod_security
