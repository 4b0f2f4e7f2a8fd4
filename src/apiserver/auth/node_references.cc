// Which objects a pod's spec names, looked for wherever they can stand.
#include "apiserver/auth/node_rights.h"
#include "apiserver/core/object.h"

namespace mangrove::apiserver {

namespace {

struct Place {
  std::string_view plural;
  std::string_view key;     // the member that refers
  std::string_view member;  // of it that has the name; "": it is the name itself
};

// Wherever one of these members occurs in a spec, it refers to an object of the pod's namespace.
constexpr Place kPlaces[] = {
    {"secrets", "secret", "secretName"},
    {"secrets", "secret", "name"},
    {"secrets", "secretRef", "name"},
    {"secrets", "secretKeyRef", "name"},
    {"secrets", "nodePublishSecretRef", "name"},
    {"configmaps", "configMap", "name"},
    {"configmaps", "configMapRef", "name"},
    {"configmaps", "configMapKeyRef", "name"},
    {"persistentvolumeclaims", "persistentVolumeClaim", "claimName"},
    {"serviceaccounts", "serviceAccountName", ""},
    {"serviceaccounts", "serviceAccount", ""},
};

bool isWanted(std::string_view found, std::string_view name) {
  return name.empty() ? !found.empty() : found == name;
}

bool namesIt(const Place& place, const json::Value& value, std::string_view name) {
  if (place.member.empty()) return value.is_string() && isWanted(value.get_string(), name);
  return value.is_object() && isWanted(textAt(value.get_object(), place.member), name);
}

bool refers(const json::Value& value, std::string_view plural, std::string_view name);

bool refersIn(const json::Object& object, std::string_view plural, std::string_view name) {
  for (const auto& [key, value] : object) {
    for (const Place& place : kPlaces)
      if (place.plural == plural && place.key == key && namesIt(place, value, name)) return true;
    if (refers(value, plural, name)) return true;
  }
  return false;
}

bool refers(const json::Value& value, std::string_view plural, std::string_view name) {
  if (value.is_object()) return refersIn(value.get_object(), plural, name);
  if (!value.is_array()) return false;
  for (const json::Value& one : value.get_array())
    if (refers(one, plural, name)) return true;
  return false;
}

bool pullsWith(const json::Object& spec, std::string_view name) {
  const json::Array* list = findArray(spec, "imagePullSecrets");
  for (size_t i = 0; list && i < list->size(); ++i)
    if ((*list)[i].is_object() && isWanted(textAt((*list)[i].get_object(), "name"), name))
      return true;
  return false;
}

}  // namespace

bool podRefersTo(const json::Object& spec, std::string_view plural, std::string_view name) {
  return (plural == "secrets" && pullsWith(spec, name)) || refersIn(spec, plural, name);
}

}  // namespace mangrove::apiserver
