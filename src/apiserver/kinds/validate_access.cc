// Roles and bindings, admission webhooks, reviews.
#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "apiserver/kinds/names.h"
#include "apiserver/kinds/validators.h"
#include "base/text/strings.h"

namespace mangrove::apiserver {
namespace {

void checkRule(const Inspect& rule, bool isNamespaced) {
  rule.wantsSome("verbs", "verbs must contain at least one value");
  if (!rule.array("nonResourceURLs").empty()) {
    if (isNamespaced)
      rule.invalid("nonResourceURLs", "namespaced rules cannot apply to non-resource URLs");
    if (!rule.array("apiGroups").empty() || !rule.array("resources").empty() ||
        !rule.array("resourceNames").empty())
      rule.invalid("nonResourceURLs",
                   "rules cannot apply to both regular resources and non-resource URLs");
    return;
  }
  rule.wantsSome("apiGroups", "resource rules must supply at least one api group");
  rule.wantsSome("resources", "resource rules must supply at least one resource");
}

void checkSubject(const Inspect& subject, bool isNamespaced) {
  subject.wants("name");
  std::string_view kind = subject.text("kind"), group = subject.text("apiGroup");
  if (kind == "ServiceAccount") {
    if (!group.empty()) subject.notSupported("apiGroup", {""});
    if (!isNamespaced || subject.has("namespace")) subject.wants("namespace");
    if (!subject.text("name").empty())
      subject.check("name", subdomainTrouble(subject.text("name")));
  } else if (kind == "User" || kind == "Group") {
    if (group != "rbac.authorization.k8s.io")
      subject.notSupported("apiGroup", {"rbac.authorization.k8s.io"});
  } else {
    subject.notSupported("kind", {"ServiceAccount", "User", "Group"});
  }
}

void checkBinding(const Inspect& root, bool isNamespaced) {
  Inspect role = root.child("roleRef");
  if (role.text("apiGroup") != "rbac.authorization.k8s.io")
    role.notSupported("apiGroup", {"rbac.authorization.k8s.io"});
  std::vector<std::string_view> kinds{"ClusterRole"};
  if (isNamespaced) kinds.insert(kinds.begin(), "Role");
  if (std::find(kinds.begin(), kinds.end(), role.text("kind")) == kinds.end())
    role.notSupported("kind", kinds);
  if (role.wants("name")) role.check("name", pathSegmentTrouble(role.text("name")));
  root.each("subjects", [&](const Inspect& subject) { checkSubject(subject, isNamespaced); });
}

void checkClientConfig(const Inspect& webhook) {
  Inspect config = webhook.child("clientConfig");
  bool hasUrl = !config.text("url").empty(), hasService = config.has("service");
  if (hasUrl == hasService)
    return webhook.required("clientConfig", "exactly one of url or service is required");
  if (hasUrl && !config.text("url").starts_with("https://"))
    config.invalid("url", "'https' is the only allowed URL scheme; want https://host[:port]/path");
  if (!hasService) return;
  Inspect service = config.child("service");
  service.wants("name", "service name is required");
  service.wants("namespace", "service namespace is required");
  checkPort(service, "port");
  if (!service.text("path").empty() && !service.text("path").starts_with('/'))
    service.invalid("path", "must start with a '/'");
}

void checkWebhook(const Inspect& webhook) {
  std::string_view name = webhook.text("name");
  if (split(name, '.').size() < 3 || !subdomainTrouble(name).empty())
    webhook.invalid("name", "should be a domain with at least three segments separated by dots");
  checkClientConfig(webhook);
  webhook.inRange("timeoutSeconds", 1, 30);
  if (webhook.wants("sideEffects", "must specify one of None, NoneOnDryRun"))
    webhook.oneOf("sideEffects", {"None", "NoneOnDryRun"});
  if (webhook.wantsSome("admissionReviewVersions", "must specify one of v1, v1beta1")) {
    const json::Array& versions = webhook.array("admissionReviewVersions");
    if (std::find(versions.begin(), versions.end(), json::Value("v1")) == versions.end())
      webhook.invalid("admissionReviewVersions",
                      "must include v1, the only one this server speaks");
  }
  webhook.each("rules", [](const Inspect& rule) {
    for (std::string_view key : {"operations", "apiGroups", "apiVersions", "resources"})
      rule.wantsSome(key);
  });
  Inspect namespaces = webhook.child("namespaceSelector"),
          objects = webhook.child("objectSelector");
  checkSelector(namespaces);
  checkSelector(objects);
}

}  // namespace

void validateRole(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  root.each("rules", [](const Inspect& rule) { checkRule(rule, true); });
}

void validateClusterRole(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  root.each("rules", [](const Inspect& rule) { checkRule(rule, false); });
  Inspect aggregation = root.child("aggregationRule");
  aggregation.each("clusterRoleSelectors", checkSelector);
}

void validateRoleBinding(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  checkBinding(root, true);
}

void validateClusterRoleBinding(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  checkBinding(root, false);
}

void validateRoleBindingUpdate(const json::Object& now, const json::Object& old,
                               FieldErrors& errors) {
  Inspect root(now, errors);
  if (!sameMember(now, old, "roleRef")) root.invalid("roleRef", "cannot change roleRef");
}

void validateWebhooks(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  std::set<std::string_view> names;
  root.each("webhooks", [&](const Inspect& webhook) {
    checkWebhook(webhook);
    if (!names.insert(webhook.text("name")).second) webhook.duplicate("name");
  });
}

void validateAccessReview(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  Inspect spec = root.child("spec");
  if (spec.has("resourceAttributes") == spec.has("nonResourceAttributes"))
    spec.invalid("resourceAttributes",
                 "exactly one of nonResourceAttributes or resourceAttributes must be specified");
}

void validateTokenReview(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  Inspect spec = root.child("spec");
  spec.wants("token");
}

}  // namespace mangrove::apiserver
