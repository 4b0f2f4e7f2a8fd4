#pragma once
// For tests of admission handlers: questions made of texts, and the object as a review leaves it.
// One thread.

#include <memory>
#include <string>
#include <string_view>

#include "api/koordinator/colocation_profile.h"
#include "json/json_patch.h"
#include "json/value.h"
#include "json/view.h"
#include "manager/webhook/admission.h"
#include "manager/webhook/surroundings.h"

namespace mangrove::manager::testing {

class Asked {
 public:
  Asked(Operation operation, std::string_view object, std::string_view old = "") {
    request.operation = operation;
    request.uid = "question-1";
    request.ns = "default";
    if (!object.empty()) request.object = *object_.parse(object);
    if (!old.empty()) request.oldObject = *old_.parse(old);
  }
  // The object with the review's patch applied, as sorted JSON.
  json::Value after(const Review& review) const {
    json::Value value = json::toValue(request.object);
    if (!review.patch.is_null()) (void)json::applyJsonPatch(value, review.patch);
    return value;
  }
  AdmissionRequest request;

 private:
  json::Doc object_, old_;
};

inline std::shared_ptr<const Profile> profileFrom(std::string_view json) {
  auto object = api::decodeText<api::ColocationProfile>(json);
  return std::make_shared<const Profile>(compileProfile(*object));
}

// Namespaces default and spark (team=data), the four shipped priority classes, these profiles.
inline Surroundings clusterWith(std::initializer_list<std::string_view> profiles = {}) {
  Surroundings out;
  ProfileIndex::Profiles all;
  for (std::string_view text : profiles) all.push_back(profileFrom(text));
  out.profiles = std::make_shared<const ProfileIndex>(std::move(all));
  auto namespaces = std::make_shared<NamespaceLabels>();
  (*namespaces)["default"] = {};
  (*namespaces)["spark"] = {{"team", "data"}};
  out.namespaces = std::move(namespaces);
  auto classes = std::make_shared<PriorityClasses>();
  const auto policy = api::PreemptionPolicy::kPreemptLowerPriority;
  (*classes)["koord-prod"] = {9000, policy};
  (*classes)["koord-mid"] = {7000, policy};
  (*classes)["koord-batch"] = {5000, policy};
  (*classes)["koord-free"] = {3000, policy};
  out.priorityClasses = std::move(classes);
  out.quotas = std::make_shared<const QuotaTree>();
  return out;
}

// The value at a path of member names and list indexes, as text: "spec|containers|0|name".
inline std::string at(const json::Value& value, std::string_view path) {
  const json::Value* here = &value;
  while (!path.empty() && here != nullptr) {
    const size_t bar = std::min(path.find('|'), path.size());
    const std::string_view part = path.substr(0, bar);
    path.remove_prefix(std::min(bar + 1, path.size()));
    if (const json::Object* object = here->if_object())
      here = object->if_contains(part);
    else if (const json::Array* array = here->if_array())
      here = array->if_contains(static_cast<size_t>(std::stoul(std::string(part))));
    else
      here = nullptr;
  }
  if (here == nullptr) return "(absent)";
  return here->is_string() ? std::string(here->get_string()) : json::writeSorted(*here);
}

}  // namespace mangrove::manager::testing
