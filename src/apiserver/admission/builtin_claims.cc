#include "apiserver/admission/builtin_claims.h"

#include "apiserver/core/object.h"

namespace mangrove::apiserver {

namespace {

constexpr std::string_view kMark = "storageclass.kubernetes.io/is-default-class";

bool isMarked(const json::Object& object) {
  const json::Object* notes = findObject(metadataOf(object), "annotations");
  return notes && textAt(*notes, kMark) == "true";
}

}  // namespace

std::string ClaimAdmission::usualClass() const {
  static const Interned kClasses = Resources::storedName("storage.k8s.io", "storageclasses");
  auto page = store_.list({.resource = kClasses});
  std::string name, since;
  if (!page) return name;
  for (const auto& object : page->items) {
    auto value = json::parse(*object->json());
    if (!value || !value->is_object() || !isMarked(value->get_object())) continue;
    const std::string_view made =
        textAt(metadataOf(std::as_const(value->get_object())), "creationTimestamp");
    if (!name.empty() && made <= since) continue;
    name = object->name();
    since = made;
  }
  return name;
}

void ClaimAdmission::mutate(AdmissionRequest& request, Done done) {
  const KindInfo& kind = *request.resource->kind;
  const bool isClaim = kind.group.empty() && kind.plural == "persistentvolumeclaims";
  if (!isClaim || request.operation != Operation::kCreate || !request.object.is_object())
    return done(std::nullopt);
  json::Object& object = request.object.get_object();
  const json::Object* notes = findObject(metadataOf(std::as_const(object)), "annotations");
  const bool old = notes && notes->contains("volume.beta.kubernetes.io/storage-class");
  json::Object& spec = objectAt(object, "spec");
  if (!old && !spec.contains("storageClassName")) {
    if (std::string name = usualClass(); !name.empty()) spec["storageClassName"] = name;
  }
  done(std::nullopt);
}

}  // namespace mangrove::apiserver
