#include <algorithm>

#include "api/wire/kind.h"
#include "placement/plugins/dynamicresources/dynamic_resources.h"

namespace mangrove::placement {
namespace {

json::Object patchBase(const api::ResourceClaim& claim) {
  return {{"uid", claim.meta.uid.str()}, {"resourceVersion", claim.meta.resourceVersion}};
}

ObjectPatch patchOf(const api::ResourceClaim& claim, bool status, json::Object body) {
  ObjectPatch out;
  out.kind = &api::kind::kResourceClaim;
  out.ns = claim.meta.ns.str();
  out.name = claim.meta.name.str();
  out.status = status;
  out.body = std::move(body);
  return out;
}

json::Array resultsOf(const ClaimPromise& promise) {
  json::Array out;
  for (const api::GivenDevice& one : promise.devices)
    out.push_back(json::Object{{"request", one.request},
                               {"driver", one.driver},
                               {"pool", one.pool},
                               {"device", one.device}});
  return out;
}

// Entries of a list of configurations, marked with where they come from.
void addConfig(const std::string& text, std::string_view source, const json::Array& requests,
               json::Array& out) {
  const auto list = text.empty() ? Result<json::Value>(json::Array()) : json::parse(text);
  if (!list || !list->is_array()) return;
  for (const json::Value& one : list->get_array()) {
    json::Object entry = one.get_object();
    entry["source"] = source;
    if (!requests.empty()) entry["requests"] = requests;
    out.push_back(std::move(entry));
  }
}

json::Array configOf(const ClaimWrite& write) {
  json::Array out;
  for (const api::DeviceRequest& request : write.claim.requests)
    if (const auto cls = write.classes.find(request.deviceClass))
      addConfig(cls->config, "FromClass", {request.name}, out);
  addConfig(write.claim.config, "FromClaim", {}, out);
  return out;
}

json::Object allocationOf(const ClaimWrite& write) {
  json::Object devices{{"results", resultsOf(write.promise)}};
  if (json::Array config = configOf(write); !config.empty()) devices["config"] = std::move(config);
  json::Object out{{"devices", std::move(devices)}};
  if (write.promise.node.empty()) return out;
  const json::Object field{
      {"key", "metadata.name"}, {"operator", "In"}, {"values", json::Array{write.promise.node}}};
  const json::Object term{{"matchFields", json::Array{field}}};
  out["nodeSelector"] = json::Object{{"nodeSelectorTerms", json::Array{term}}};
  return out;
}

json::Object consumerJson(const api::ClaimConsumer& one) {
  json::Object out{{"resource", one.resource}, {"name", one.name}, {"uid", one.uid}};
  if (!one.apiGroup.empty()) out["apiGroup"] = one.apiGroup;
  return out;
}

json::Array consumersOf(const ClaimWrite& write) {
  json::Array out;
  for (const api::ClaimConsumer& one : write.claim.reservedFor) out.push_back(consumerJson(one));
  for (const api::ClaimConsumer& one : write.promise.consumers) out.push_back(consumerJson(one));
  return out;
}

}  // namespace

std::vector<ObjectPatch> claimPatches(const ClaimWrite& write) {
  std::vector<ObjectPatch> out;
  const api::ResourceClaim& claim = write.claim;
  json::Object meta = patchBase(claim);
  const auto& finalizers = claim.meta.finalizers;
  if (std::find(finalizers.begin(), finalizers.end(), api::kClaimFinalizer) == finalizers.end()) {
    json::Array all;
    for (const auto& one : finalizers) all.emplace_back(one.view());
    all.emplace_back(api::kClaimFinalizer);
    json::Object marked = std::move(meta);
    marked["finalizers"] = std::move(all);
    out.push_back(patchOf(claim, false, {{"metadata", std::move(marked)}}));
    meta = {{"uid", claim.meta.uid.str()}};  // the version is another one after that
  }
  json::Object status{{"reservedFor", consumersOf(write)}};
  if (!claim.allocation) status["allocation"] = allocationOf(write);
  out.push_back(
      patchOf(claim, true, {{"metadata", std::move(meta)}, {"status", std::move(status)}}));
  return out;
}

}  // namespace mangrove::placement
