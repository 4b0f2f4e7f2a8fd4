#include "manager/webhook/node/amplify.h"

#include "api/annotations/node.h"
#include "api/names.h"
#include "api/node.h"
#include "json/json_patch.h"
#include "manager/webhook/draft.h"

namespace mangrove::manager {
namespace {

namespace resource = api::resource;
constexpr std::string_view kAmplified[] = {resource::kCpu, resource::kMemory};

// What the kubelet reported last: the annotation, unless it is missing or this very update reports
// something else (nullopt).
Result<std::optional<api::ResourceList>> remembered(const api::Node& node, const api::Node& old) {
  for (std::string_view name : kAmplified)
    if (node.status.allocatable.amount(name) != old.status.allocatable.amount(name))
      return std::nullopt;
  if (!node.meta.annotations.has(api::annotation::kRawAllocatable)) return std::nullopt;
  return api::parseRawAllocatable(node.meta.annotations);
}

api::ResourceList whatIsReported(const api::ResourceList& allocatable) {
  api::ResourceList out;
  for (std::string_view name : kAmplified)
    if (const Quantity* amount = allocatable.find(name)) out.set(name, *amount);
  return out;
}

void amplify(json::Object& node, const api::AmplificationRatios& ratios,
             const api::ResourceList& raw) {
  json::Object* status = findObject(node, "status");
  json::Object* allocatable = status ? findObject(*status, "allocatable") : nullptr;
  if (allocatable == nullptr) return;
  for (std::string_view name : kAmplified) {
    const auto ratio = ratios.find(std::string(name));
    const Quantity* amount = raw.find(name);
    if (ratio != ratios.end() && ratio->second > 1 && amount != nullptr)
      setAmount(*allocatable, name, amount->mulMilli(ratio->second));
  }
}

Result<> rewrite(json::Object& object, const api::Node& node, const api::Node& old) {
  const auto said = node.meta.annotations.get(api::annotation::kResourceAmplificationRatio);
  if (!said || said->empty()) {
    json::Object* annotations = findObject(metadataOf(object), "annotations");
    if (annotations != nullptr) annotations->erase(api::annotation::kRawAllocatable);
    return {};
  }
  if (node.status.allocatable.empty()) return {};
  auto ratios = api::parseAmplificationRatios(node.meta.annotations);
  if (!ratios) return pass(ratios.error());
  auto known = remembered(node, old);
  if (!known) return pass(known.error());
  const api::ResourceList raw = *known ? **known : whatIsReported(node.status.allocatable);
  if (!*known)
    setText(objectIn(metadataOf(object), "annotations"), api::annotation::kRawAllocatable,
            api::annotationText(raw));
  if (*ratios) amplify(object, **ratios, raw);
  return {};
}

}  // namespace

Review mutateNodeStatus(const AdmissionRequest& request, const Surroundings&) {
  if (request.operation != Operation::kUpdate) return {};
  auto node = api::decode<api::Node>(request.object);
  if (!node) return Review::refuse(kBadRequest, "unreadable", "node: " + node.error().text());
  auto old = api::decode<api::Node>(request.oldObject);
  if (!old) return Review::refuse(kBadRequest, "unreadable", "old node: " + old.error().text());
  const json::Value before = json::toValue(request.object);
  json::Value after = before;
  if (auto done = rewrite(after.get_object(), *node, *old); !done)
    return Review::refuse(kBrokenHandler, "mutation", done.error().text());
  Review review;
  json::Value patch = json::jsonDiff(before, after);
  if (!patch.get_array().empty()) review.patch = std::move(patch);
  return review;
}

}  // namespace mangrove::manager
