#include "apiserver/admission/builtin_refusal.h"

#include <fmt/core.h>

#include "apiserver/core/object.h"

namespace mangrove::apiserver {

Answer admissionForbids(const AdmissionRequest& request, std::string_view why, json::Value causes) {
  const KindInfo& kind = *request.resource->kind;
  std::string name = request.name;
  if (name.empty() && request.object.is_object())
    name = textAt(metadataOf(request.object.get_object()), "generateName");
  json::Object details{{"name", name}, {"kind", kind.plural}};
  if (!kind.group.empty()) details["group"] = kind.group;
  if (causes.is_array()) details["causes"] = std::move(causes);
  return answer::forbidden(
      fmt::format("{} \"{}\" is forbidden: {}", kind.groupResource(), name, why),
      std::move(details));
}

}  // namespace mangrove::apiserver
