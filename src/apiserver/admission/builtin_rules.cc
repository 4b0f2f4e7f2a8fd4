#include "apiserver/admission/builtin_rules.h"

#include <fmt/core.h>

#include "json/value.h"

namespace mangrove::apiserver {

namespace {

bool hasMember(const json::Value& value, std::string_view name) {
  if (value.is_array()) {
    for (const json::Value& one : value.get_array())
      if (hasMember(one, name)) return true;
    return false;
  }
  if (!value.is_object()) return false;
  for (const auto& [key, below] : value.get_object())
    if (key == name || hasMember(below, name)) return true;
  return false;
}

}  // namespace

void UnevaluatedRules::validate(AdmissionRequest& request, Done done) {
  const KindInfo& kind = *request.resource->kind;
  const json::Object* object = request.object.if_object();
  if (object && kind.kind == "CustomResourceDefinition" && request.subresource.empty()) {
    const json::Value* spec = object->if_contains("spec");
    if (spec && hasMember(*spec, "x-kubernetes-validations"))
      request.warnings.push_back(
          "x-kubernetes-validations are kept but not evaluated by this server: objects that break "
          "them are accepted");
  }
  if (object && kind.kind.ends_with("AdmissionPolicy"))
    request.warnings.push_back(
        fmt::format("{} is kept but not evaluated by this server: it refuses nothing", kind.kind));
  done(std::nullopt);
}

}  // namespace mangrove::apiserver
