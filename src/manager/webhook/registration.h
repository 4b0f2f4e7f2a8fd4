#pragma once
// How API servers learn of our handlers: the Mutating- and ValidatingWebhookConfiguration that were
// installed from config/webhook get our authority and address, and lose the entries whose handlers
// are switched off. What was installed is kept in their annotation `template`, so that a gate that
// is switched on again finds its entry.
//
//   auto patch = registrationPatch(configuration, facts);
//   if (!patch.is_null()) client.patch(ref, PatchType::kMerge, json::write(patch));
//
// Pure; any thread.

#include <set>
#include <string>

#include "base/result.h"
#include "json/value.h"

namespace mangrove::manager {

struct RegistrationFacts {
  std::string caBundle;  // PEM
  // Either a host and port under which API servers reach us, or a Service.
  std::string host;
  int port = 443;
  std::string serviceNamespace, serviceName;
  std::set<std::string, std::less<>> paths;  // of handlers that are switched on
};

// A merge patch that makes the configuration right; null when it is. Fails when the annotation
// `template` cannot be read.
Result<json::Value> registrationPatch(const json::Value& configuration,
                                      const RegistrationFacts& facts);

// The path an entry is asked under, from its service or its URL; "" when it has none.
std::string pathOf(const json::Object& webhook);

inline constexpr std::string_view kTemplateAnnotation = "template";

}  // namespace mangrove::manager
