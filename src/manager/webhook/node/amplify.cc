#include "manager/webhook/node/amplify.h"

#include "api/annotations/node.h"
#include "api/object/node.h"
#include "api/wire/names.h"
#include "json/json_patch.h"
#include "manager/webhook/draft.h"

namespace mangrove::manager {
namespace {

namespace resource = api::resource;
constexpr std::string_view kAmplified[] = {resource::kCpu, resource::kMemory};

constexpr std::string_view kKubeletUser = "system:node:";
constexpr std::string_view kTrusted = "kubelet";

// Who writes, as far as raw amounts are concerned.
enum class Writer { kKubelet, kSomebody, kNotBelieved };

Writer writerOf(std::string_view user, const api::Node& node) {
  if (user.starts_with(kKubeletUser)) return Writer::kKubelet;
  const bool hasKubelet = node.meta.annotations.get(kRawAllocatableFrom) == kTrusted;
  return hasKubelet ? Writer::kNotBelieved : Writer::kSomebody;
}

// One resource as the kubelet last reported it. Without `known` this is the first look at the node:
// what it has is not amplified yet.
const Quantity* rawOf(std::string_view name, const api::Node& node, const api::Node& old,
                      const api::ResourceList* known, Writer writer) {
  const Quantity* now = node.status.allocatable.find(name);
  const Quantity* before = old.status.allocatable.find(name);
  if (known == nullptr) return writer == Writer::kNotBelieved ? before : now;
  const Quantity* raw = known->find(name);
  if (writer != Writer::kKubelet || now == nullptr) return raw;
  if (raw == nullptr || before == nullptr || *now != *before) return now;
  // Unchanged, and less than what is remembered: no ratio makes less, so a report went past us.
  return *now < *raw ? now : raw;
}

// Differing amounts of one resource make the reference believe both anew; so do we.
bool isReport(const api::Node& node, const api::Node& old, Writer writer) {
  if (writer != Writer::kSomebody) return false;
  for (std::string_view name : kAmplified)
    if (node.status.allocatable.amount(name) != old.status.allocatable.amount(name)) return true;
  return false;
}

api::ResourceList rawAmounts(const api::Node& node, const api::Node& old,
                             const api::ResourceList* known, Writer writer) {
  api::ResourceList out;
  for (std::string_view name : kAmplified)
    if (const Quantity* amount = rawOf(name, node, old, known, writer)) out.set(name, *amount);
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

void forget(json::Object& object) {
  json::Object* annotations = findObject(metadataOf(object), "annotations");
  if (annotations == nullptr) return;
  annotations->erase(api::annotation::kRawAllocatable);
  annotations->erase(kRawAllocatableFrom);
}

Result<> rewrite(json::Object& object, const api::Node& node, const api::Node& old,
                 std::string_view user) {
  const auto said = node.meta.annotations.get(api::annotation::kResourceAmplificationRatio);
  if (!said || said->empty()) {
    forget(object);
    return {};
  }
  if (node.status.allocatable.empty()) return {};
  auto ratios = api::parseAmplificationRatios(node.meta.annotations);
  if (!ratios) return pass(ratios.error());
  const Writer writer = writerOf(user, node);
  std::optional<api::ResourceList> known;
  if (node.meta.annotations.has(api::annotation::kRawAllocatable) && !isReport(node, old, writer)) {
    auto parsed = api::parseRawAllocatable(node.meta.annotations);
    if (!parsed) return pass(parsed.error());
    known = std::move(*parsed);
  }
  const auto raw = rawAmounts(node, old, known ? &*known : nullptr, writer);
  json::Object& annotations = objectIn(metadataOf(object), "annotations");
  if (!known || *known != raw)
    setText(annotations, api::annotation::kRawAllocatable, api::annotationText(raw));
  if (writer == Writer::kKubelet) setText(annotations, kRawAllocatableFrom, kTrusted);
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
  if (auto done = rewrite(after.get_object(), *node, *old, request.user); !done)
    return Review::refuse(kBrokenHandler, "mutation", done.error().text());
  Review review;
  json::Value patch = json::jsonDiff(before, after);
  if (!patch.get_array().empty()) review.patch = std::move(patch);
  return review;
}

}  // namespace mangrove::manager
