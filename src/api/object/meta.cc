#include "api/object/meta.h"

#include <algorithm>

namespace mangrove::api {

bool read(const In& in, OwnerReference& out) {
  static constexpr Fields fields{
      field<&OwnerReference::apiVersion>("apiVersion"),
      field<&OwnerReference::kind>("kind"),
      field<&OwnerReference::name>("name"),
      field<&OwnerReference::uid>("uid"),
      field<&OwnerReference::controller>("controller"),
      field<&OwnerReference::blockOwnerDeletion>("blockOwnerDeletion"),
  };
  return fields.read(in, out);
}

bool read(const In& in, ObjectMeta& out) {
  static constexpr Fields fields{
      field<&ObjectMeta::name>("name"),
      field<&ObjectMeta::generateName>("generateName"),
      field<&ObjectMeta::ns>("namespace"),
      field<&ObjectMeta::uid>("uid"),
      field<&ObjectMeta::resourceVersion>("resourceVersion"),
      field<&ObjectMeta::generation>("generation"),
      field<&ObjectMeta::creationTimestamp>("creationTimestamp"),
      field<&ObjectMeta::deletionTimestamp>("deletionTimestamp"),
      field<&ObjectMeta::deletionGracePeriodSeconds>("deletionGracePeriodSeconds"),
      field<&ObjectMeta::labels>("labels"),
      field<&ObjectMeta::annotations>("annotations"),
      field<&ObjectMeta::owners>("ownerReferences"),
      field<&ObjectMeta::finalizers>("finalizers"),
  };
  return fields.read(in, out);
}

const OwnerReference* ObjectMeta::controller() const {
  auto at = std::ranges::find_if(*owners, &OwnerReference::controller);
  return at == owners->end() ? nullptr : &*at;
}

std::string NamespacedName::text() const {
  return ns.empty() ? name : ns + "/" + name;
}

NamespacedName NamespacedName::parse(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return {"", std::string(text)};
  return {std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
}

NamespacedName keyOf(const ObjectMeta& meta) {
  return {meta.ns.str(), meta.name.str()};
}

bool read(const In& in, ObjectRef& out) {
  static constexpr Fields fields{
      field<&ObjectRef::apiVersion>("apiVersion"),
      field<&ObjectRef::kind>("kind"),
      field<&ObjectRef::ns>("namespace"),
      field<&ObjectRef::name>("name"),
      field<&ObjectRef::uid>("uid"),
      field<&ObjectRef::resourceVersion>("resourceVersion"),
      field<&ObjectRef::fieldPath>("fieldPath"),
  };
  return fields.read(in, out);
}

bool read(const In& in, ObjectHead& out) {
  static constexpr Fields fields{
      field<&ObjectHead::apiVersion>("apiVersion"),
      field<&ObjectHead::kind>("kind"),
      field<&ObjectHead::meta>("metadata"),
  };
  return fields.read(in, out);
}

}  // namespace mangrove::api
