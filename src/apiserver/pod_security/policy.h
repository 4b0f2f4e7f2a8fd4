#pragma once
// Which level a namespace asks for: its labels, and where it has none the server's configuration.
// Values and pure functions.
//
//   pod-security.kubernetes.io/enforce: baseline        pods that break it are refused
//   pod-security.kubernetes.io/audit: restricted        … are named in the audit log
//   pod-security.kubernetes.io/warn: restricted         … are warned about
//   pod-security.kubernetes.io/enforce-version: v1.30   as that version meant it; latest otherwise

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/pod_security/levels.h"
#include "apiserver/schema/field_error.h"
#include "base/result.h"

namespace mangrove::apiserver::pod_security {

struct Policy {
  LevelVersion enforce, audit, warn;
  bool operator==(const Policy&) const = default;
};

// Kubernetes' PodSecurityConfiguration: what namespaces without labels get, and who is spared.
struct Configuration {
  Policy defaults;
  std::vector<std::string> usernames, runtimeClasses, namespaces;
};
// A file of kind PodSecurityConfiguration (pod-security.admission.config.k8s.io). Errors name the
// field, the value and what is possible.
Result<Configuration> readConfiguration(std::string_view yaml, std::string_view file);

// Values that are none are told in `errors`; the most careful level holds in their place.
Policy policyOf(const json::Object& namespaceObject, const Policy& defaults, FieldErrors& errors);

}  // namespace mangrove::apiserver::pod_security
