#include "manager/webhook/registration.h"

#include <fmt/format.h>

#include "base/text/encoding.h"
#include "manager/webhook/draft.h"

namespace mangrove::manager {
namespace {

Result<json::Value> templateOf(const json::Object& configuration) {
  const auto kept = annotationOf(configuration, kTemplateAnnotation);
  if (!kept) {
    const json::Value* webhooks = configuration.if_contains("webhooks");
    return webhooks != nullptr ? *webhooks : json::Value(json::Array());
  }
  auto parsed = json::parse(*kept);
  if (!parsed) return parsed.error().in("annotation {}", kTemplateAnnotation);
  if (!parsed->is_array())
    return invalid("annotation {}: want a list of webhooks", kTemplateAnnotation);
  return parsed;
}

// The configuration's webhooks say where: a fresh clientConfig replaces whatever stood there.
json::Object clientConfig(const std::string& path, const json::Object& before,
                          const RegistrationFacts& facts) {
  json::Object out{{"caBundle", base64Encode(facts.caBundle)}};
  if (!facts.host.empty()) {
    const bool v6 = facts.host.find(':') != std::string::npos;
    out["url"] = fmt::format("https://{}{}{}:{}{}", v6 ? "[" : "", facts.host, v6 ? "]" : "",
                             facts.port, path);
    return out;
  }
  json::Object service;
  if (const json::Object* old = findObject(before, "service")) service = *old;
  service["namespace"] = facts.serviceNamespace;
  service["name"] = facts.serviceName;
  service["path"] = path;
  out["service"] = std::move(service);
  return out;
}

json::Array wantedWebhooks(const json::Array& source, const RegistrationFacts& facts) {
  json::Array out;
  for (const json::Value& entry : source) {
    if (!entry.is_object()) continue;
    json::Object webhook = entry.get_object();
    const std::string path = pathOf(webhook);
    if (!facts.paths.contains(path)) continue;
    const json::Object* before = findObject(webhook, "clientConfig");
    webhook["clientConfig"] = clientConfig(path, before ? *before : json::Object(), facts);
    out.push_back(std::move(webhook));
  }
  return out;
}

}  // namespace

std::string pathOf(const json::Object& webhook) {
  const json::Object* config = findObject(webhook, "clientConfig");
  if (config == nullptr) return "";
  if (const json::Object* service = findObject(*config, "service"))
    return std::string(textIn(*service, "path").value_or(""));
  const std::string_view url = textIn(*config, "url").value_or("");
  const size_t host = url.find("://");
  const size_t slash = host == url.npos ? url.npos : url.find('/', host + 3);
  return slash == url.npos ? "" : std::string(url.substr(slash));
}

Result<json::Value> registrationPatch(const json::Value& configuration,
                                      const RegistrationFacts& facts) {
  if (!configuration.is_object()) return invalid("the configuration is no object");
  const json::Object& present = configuration.get_object();
  auto source = templateOf(present);
  if (!source) return pass(source.error());
  json::Value webhooks = wantedWebhooks(source->get_array(), facts);
  json::Object patch;
  if (!annotationOf(present, kTemplateAnnotation))
    setText(objectIn(metadataOf(patch), "annotations"), kTemplateAnnotation, json::write(*source));
  const json::Value* now = present.if_contains("webhooks");
  if (now == nullptr || !json::equal(*now, webhooks)) patch["webhooks"] = std::move(webhooks);
  if (patch.empty()) return json::Value();
  if (const json::Object* metadata = findObject(present, "metadata"))
    if (auto version = textIn(*metadata, "resourceVersion"))
      setText(metadataOf(patch), "resourceVersion", *version);
  return json::Value(std::move(patch));
}

}  // namespace mangrove::manager
