#include "api/object/bodies.h"

#include "json/value.h"

namespace mangrove::api {
namespace {

json::Object nameOf(const ObjectMeta& meta) {
  return {{"name", meta.name.str()}, {"namespace", meta.ns.str()}};
}

}  // namespace

json::Object DeleteOptions::toJson() const {
  json::Object out{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  if (gracePeriodSeconds) out["gracePeriodSeconds"] = *gracePeriodSeconds;
  json::Object conditions;
  if (!uid.empty()) conditions["uid"] = uid.str();
  if (!resourceVersion.empty()) conditions["resourceVersion"] = resourceVersion;
  if (!conditions.empty()) out["preconditions"] = std::move(conditions);
  if (!propagationPolicy.empty()) out["propagationPolicy"] = propagationPolicy;
  if (dryRun) out["dryRun"] = json::Array{"All"};
  return out;
}

json::Object bindingBody(const ObjectMeta& pod, std::string_view node) {
  json::Object metadata = nameOf(pod);
  if (!pod.uid.empty()) metadata["uid"] = pod.uid.str();
  json::Object target{
      {"apiVersion", "v1"}, {"kind", "Node"}, {"name", boost::json::string_view(node)}};
  return {{"apiVersion", "v1"},
          {"kind", "Binding"},
          {"metadata", std::move(metadata)},
          {"target", std::move(target)}};
}

json::Object evictionBody(const ObjectMeta& pod, const DeleteOptions& options) {
  json::Object out{{"apiVersion", "policy/v1"}, {"kind", "Eviction"}, {"metadata", nameOf(pod)}};
  json::Object inner = options.toJson();
  inner.erase("apiVersion");
  inner.erase("kind");
  if (!inner.empty()) out["deleteOptions"] = std::move(inner);
  return out;
}

}  // namespace mangrove::api
