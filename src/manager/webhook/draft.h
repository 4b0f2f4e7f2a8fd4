#pragma once
// Small edits of the JSON objects that handlers change. Objects have been decoded before, so that
// what must be an object is one; what is missing is made on the way.
//
//   json::Object& labels = objectIn(metadataOf(pod), "labels");
//   setText(labels, label::kQosClass, "BE");
//
// Functions of the value they are given; one thread at a time per value.

#include <optional>
#include <string_view>

#include "base/number/quantity.h"
#include "json/value.h"

namespace mangrove::manager {

// The member as an object; made when it is absent or null.
json::Object& objectIn(json::Object& parent, std::string_view key);
// nullptr when it is absent or something else.
json::Object* findObject(json::Object& parent, std::string_view key);
const json::Object* findObject(const json::Object& parent, std::string_view key);
json::Array* findArray(json::Object& parent, std::string_view key);
const json::Array* findArray(const json::Object& parent, std::string_view key);

json::Object& metadataOf(json::Object& object);
std::optional<std::string_view> textIn(const json::Object& parent, std::string_view key);
void setText(json::Object& parent, std::string_view key, std::string_view value);
// metadata.labels[key] and metadata.annotations[key] of an object.
std::optional<std::string_view> labelOf(const json::Object& object, std::string_view key);
std::optional<std::string_view> annotationOf(const json::Object& object, std::string_view key);

// An amount in a resource list; nullopt when it is absent or no quantity.
std::optional<Quantity> amountIn(const json::Object& list, std::string_view name);
void setAmount(json::Object& list, std::string_view name, const Quantity& amount);
// resources.requests and resources.limits of a container; made when missing.
json::Object& requestsOf(json::Object& container);
json::Object& limitsOf(json::Object& container);

// visit(container object) for spec.containers, or for both lists.
template <class Visit>
void eachContainer(json::Object& podSpec, std::string_view list, Visit visit) {
  json::Array* containers = findArray(podSpec, list);
  if (containers == nullptr) return;
  for (json::Value& element : *containers)
    if (json::Object* container = element.if_object()) visit(*container);
}
inline constexpr std::string_view kContainers = "containers";
inline constexpr std::string_view kInitContainers = "initContainers";

}  // namespace mangrove::manager
