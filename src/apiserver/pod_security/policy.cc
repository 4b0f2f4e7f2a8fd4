#include "apiserver/pod_security/policy.h"

#include <fmt/core.h>

#include "apiserver/core/object.h"
#include "json/yaml.h"

namespace mangrove::apiserver::pod_security {

namespace {

constexpr std::string_view kPrefix = "pod-security.kubernetes.io/";

struct Mode {
  std::string_view name;
  LevelVersion Policy::*place;
};
constexpr Mode kModes[] = {
    {"enforce", &Policy::enforce}, {"audit", &Policy::audit}, {"warn", &Policy::warn}};

std::vector<std::string> texts(const json::Object* parent, std::string_view key) {
  std::vector<std::string> out;
  const json::Array* list = parent ? findArray(*parent, key) : nullptr;
  for (size_t i = 0; list && i < list->size(); ++i)
    if ((*list)[i].is_string()) out.emplace_back(std::string_view((*list)[i].get_string()));
  return out;
}

Result<> readDefault(const json::Object& defaults, const Mode& mode, Policy& out) {
  const std::string version = std::string(mode.name) + "-version";
  if (const auto text = textAt(defaults, mode.name); !text.empty()) {
    auto level = parseLevel(text);
    if (!level)
      return invalid("defaults.{}: '{}'; want privileged, baseline or restricted", mode.name, text);
    (out.*mode.place).level = *level;
  }
  if (const auto text = textAt(defaults, version); !text.empty()) {
    auto minor = parseVersion(text);
    if (!minor) return invalid("defaults.{}: '{}'; want latest or v1.N", version, text);
    (out.*mode.place).minor = *minor;
  }
  return {};
}

}  // namespace

Result<Configuration> readConfiguration(std::string_view yaml, std::string_view file) {
  auto documents = json::parseYaml(yaml, file);
  if (!documents) return pass(documents.error());
  const json::Object* root =
      documents->size() == 1 ? documents->front().value.if_object() : nullptr;
  if (!root || textAt(*root, "kind") != "PodSecurityConfiguration")
    return invalid("{}: want one object of kind PodSecurityConfiguration", file);
  Configuration out;
  if (const json::Object* defaults = findObject(*root, "defaults"))
    for (const Mode& mode : kModes)
      if (auto ok = readDefault(*defaults, mode, out.defaults); !ok)
        return ok.error().in("{}", file);
  const json::Object* spared = findObject(*root, "exemptions");
  out.usernames = texts(spared, "usernames");
  out.runtimeClasses = texts(spared, "runtimeClasses");
  out.namespaces = texts(spared, "namespaces");
  return out;
}

Policy policyOf(const json::Object& home, const Policy& defaults, FieldErrors& errors) {
  Policy out = defaults;
  const json::Object* labels = findObject(metadataOf(home), "labels");
  if (!labels) return out;
  const FieldPath meta("metadata"), at = meta.child("labels");
  for (const Mode& mode : kModes) {
    LevelVersion& place = out.*mode.place;
    const std::string key = std::string(kPrefix) + std::string(mode.name);
    if (labels->contains(key)) {
      const auto level = parseLevel(textAt(*labels, key));
      if (!level)
        errors.notSupported(at.key(key), labels->at(key), {"privileged", "baseline", "restricted"});
      place = {level.value_or(Level::kRestricted), kLatest};
    }
    if (!labels->contains(key + "-version")) continue;
    const auto minor = parseVersion(textAt(*labels, key + "-version"));
    if (!minor)
      errors.invalid(at.key(key + "-version"), labels->at(key + "-version"),
                     "must be \"latest\" or \"v1.x\"");
    place.minor = minor.value_or(kLatest);
  }
  return out;
}

}  // namespace mangrove::apiserver::pod_security
