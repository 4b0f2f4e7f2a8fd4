#include "apiserver/admission/webhook_config.h"

#include <algorithm>

#include "apiserver/core/object.h"
#include "apiserver/subresources/label_match.h"
#include "base/text/encoding.h"

namespace mangrove::apiserver {

namespace {

constexpr int64_t kLeastTimeout = 1, kMostTimeout = 30, kUsualTimeout = 10;

std::vector<std::string> textsAt(const json::Object& parent, std::string_view key) {
  std::vector<std::string> out;
  if (const json::Array* list = findArray(parent, key)) {
    for (const json::Value& one : *list)
      if (one.is_string()) out.emplace_back(std::string_view(one.get_string()));
  }
  return out;
}

int64_t numberAt(const json::Object& parent, std::string_view key, int64_t otherwise) {
  const json::Value* found = parent.if_contains(key);
  return found && found->is_int64() ? found->get_int64() : otherwise;
}

bool names(const std::vector<std::string>& list, std::string_view wanted) {
  return std::any_of(list.begin(), list.end(),
                     [&](const std::string& one) { return one == "*" || one == wanted; });
}

// "pods", "pods/status", "pods/*", "*/status", "*/*"; "*" is every resource without its parts.
bool namesResource(const std::string& rule, std::string_view plural, std::string_view part) {
  const size_t slash = rule.find('/');
  const bool hasSub = slash != std::string::npos;
  const std::string_view resource = std::string_view(rule).substr(0, slash);
  const std::string_view sub = hasSub ? std::string_view(rule).substr(slash + 1) : "";
  if (resource != "*" && resource != plural) return false;
  if (!hasSub) return part.empty();
  return sub == "*" || sub == part;
}

WebhookRule ruleOf(const json::Object& rule) {
  const std::string_view scope = textAt(rule, "scope");
  return {textsAt(rule, "operations"), textsAt(rule, "apiGroups"), textsAt(rule, "apiVersions"),
          textsAt(rule, "resources"), std::string(scope.empty() ? "*" : scope)};
}

api::Selector selectorAt(const json::Object& hook, std::string_view key, std::string& trouble) {
  const json::Object* found = findObject(hook, key);
  if (!found) return {};
  auto selector = selectorFrom(*found);
  if (selector) return std::move(*selector);
  trouble = std::string(key) + ": " + selector.error().text();
  return {};  // asked about everything, so that the trouble is heard of
}

void readClient(const json::Object& client, Webhook& out) {
  out.url = textAt(client, "url");
  if (const json::Object* service = findObject(client, "service")) {
    out.service = ServiceReference{std::string(textAt(*service, "namespace")),
                                   std::string(textAt(*service, "name")),
                                   static_cast<int>(numberAt(*service, "port", 443))};
    out.path = textAt(*service, "path");
  }
  if (out.url.empty() && !out.service) out.trouble = "clientConfig has neither url nor service";
  const std::string_view bundle = textAt(client, "caBundle");
  if (bundle.empty()) return;
  auto pem = base64Decode(bundle);
  if (pem) {
    out.caPem = std::move(*pem);
  } else {
    out.trouble = "clientConfig.caBundle: " + pem.error().text();
  }
}

void readPolicies(const json::Object& hook, Webhook& out) {
  out.timeout = std::chrono::seconds(
      std::clamp(numberAt(hook, "timeoutSeconds", kUsualTimeout), kLeastTimeout, kMostTimeout));
  out.ignoreFailure = textAt(hook, "failurePolicy") == "Ignore";
  out.equivalent = textAt(hook, "matchPolicy") != "Exact";
  out.reinvoke = textAt(hook, "reinvocationPolicy") == "IfNeeded";
  const std::string_view effects = textAt(hook, "sideEffects");
  out.sideEffects = effects != "None" && effects != "NoneOnDryRun";
  const json::Array* conditions = findArray(hook, "matchConditions");
  out.conditions = conditions && !conditions->empty();
}

WebhookPtr compileOne(const json::Object& hook, const std::string& configuration) {
  auto out = std::make_shared<Webhook>();
  out->name = textAt(hook, "name");
  out->configuration = configuration;
  readPolicies(hook, *out);
  const json::Object none;
  const json::Object* client = findObject(hook, "clientConfig");
  readClient(client ? *client : none, *out);
  out->namespaceSelector = selectorAt(hook, "namespaceSelector", out->trouble);
  out->objectSelector = selectorAt(hook, "objectSelector", out->trouble);
  const json::Array* rules = findArray(hook, "rules");
  for (const json::Value& rule : rules ? *rules : json::Array())
    if (rule.is_object()) out->rules.push_back(ruleOf(rule.get_object()));
  return out;
}

// Webhooks could lock everybody out of removing them.
bool isExempt(const AdmissionRequest& request) {
  return request.resource->kind->group == "admissionregistration.k8s.io";
}

bool objectMatches(const api::Selector& selector, const AdmissionRequest& request) {
  if (selector.matchesEverything()) return true;
  for (const json::Value* one : {&request.object, &request.oldObject})
    if (one->is_object() && matchesLabels(selector, one->get_object())) return true;
  return false;
}

bool namespaceMatches(const api::Selector& selector, const AdmissionRequest& request,
                      const api::Labels* ns) {
  if (selector.matchesEverything()) return true;
  const KindInfo& kind = *request.resource->kind;
  if (kind.group.empty() && kind.kind == "Namespace") {
    const json::Value& one = request.object.is_object() ? request.object : request.oldObject;
    return one.is_object() && matchesLabels(selector, one.get_object());
  }
  return !ns || selector.matches(*ns);
}

}  // namespace

bool WebhookRule::matches(const AdmissionRequest& request, bool anyVersion) const {
  const KindInfo& kind = *request.resource->kind;
  if (!names(operations, operationName(request.operation))) return false;
  if (!names(groups, kind.group)) return false;
  if (!anyVersion && !names(versions, kind.version)) return false;
  if (scope != "*" && (scope == "Namespaced") != kind.namespaced) return false;
  return std::any_of(resources.begin(), resources.end(), [&](const std::string& one) {
    return namesResource(one, kind.plural, request.subresource);
  });
}

bool Webhook::wants(const AdmissionRequest& request, const api::Labels* ns) const {
  if (isExempt(request)) return false;
  const bool ruled = std::any_of(rules.begin(), rules.end(), [&](const WebhookRule& rule) {
    return rule.matches(request, equivalent);
  });
  return ruled && namespaceMatches(namespaceSelector, request, ns) &&
         objectMatches(objectSelector, request);
}

std::vector<WebhookPtr> compileWebhooks(const json::Object& configuration) {
  std::vector<WebhookPtr> out;
  const json::Array* hooks = findArray(configuration, "webhooks");
  const json::Object* meta = findObject(configuration, "metadata");
  const std::string name = meta ? std::string(textAt(*meta, "name")) : "";
  for (const json::Value& hook : hooks ? *hooks : json::Array())
    if (hook.is_object()) out.push_back(compileOne(hook.get_object(), name));
  return out;
}

}  // namespace mangrove::apiserver
