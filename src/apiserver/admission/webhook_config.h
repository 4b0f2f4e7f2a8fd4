#pragma once
// Mutating- and ValidatingWebhookConfigurations, compiled once per change: which requests a webhook
// wants, and where and how to ask it. Values; const access from any thread.
//
//   for (const auto& hook : compileWebhooks(configuration))
//     if (hook->wants(request, namespaceLabels)) …

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/select/selector.h"
#include "apiserver/admission/admission.h"
#include "base/number/units.h"
#include "json/value.h"

namespace mangrove::apiserver {

struct WebhookRule {
  std::vector<std::string> operations, groups, versions, resources;
  std::string scope;  // "*", "Cluster" or "Namespaced"

  // `anyVersion`: matchPolicy Equivalent. The object is still sent in the version it came in.
  bool matches(const AdmissionRequest& request, bool anyVersion) const;
};

struct ServiceReference {
  std::string ns, name;
  int port = 443;
};

struct Webhook {
  std::string name;
  std::string configuration;  // the object it comes from
  std::string url;            // "https://host:port/path"; "" with a service
  std::optional<ServiceReference> service;
  std::string path;   // of a service
  std::string caPem;  // "": the operating system's authorities
  std::vector<WebhookRule> rules;
  api::Selector namespaceSelector, objectSelector;
  Duration timeout = std::chrono::seconds(10);
  bool ignoreFailure = false;  // failurePolicy Ignore
  bool equivalent = true;      // matchPolicy
  bool sideEffects = false;    // may not be asked in a dry run
  bool reinvoke = false;       // reinvocationPolicy IfNeeded
  bool conditions = false;     // has matchConditions, which this server does not evaluate
  std::string trouble;         // why it cannot be asked at all; "" is the usual case

  // `ns` is the namespace the object lives in; null for cluster-scoped ones, which every namespace
  // selector lets through. A Namespace is judged by its own labels.
  bool wants(const AdmissionRequest& request, const api::Labels* ns) const;
};
using WebhookPtr = std::shared_ptr<const Webhook>;

// In the order of the configuration. Never fails: what is wrong becomes the webhook's trouble.
std::vector<WebhookPtr> compileWebhooks(const json::Object& configuration);

}  // namespace mangrove::apiserver
