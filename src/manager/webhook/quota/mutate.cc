#include "manager/webhook/quota/mutate.h"

#include "api/annotations/quota.h"
#include "api/wire/names.h"
#include "json/json_patch.h"
#include "manager/webhook/draft.h"

namespace mangrove::manager {
namespace {

namespace annotation = api::annotation;
namespace label = api::label;

Result<> completeTree(json::Object& quota, const api::ElasticQuota& decoded,
                      const Surroundings& around) {
  json::Object& labels = objectIn(metadataOf(quota), "labels");
  const auto said = decoded.meta.labels.get(label::kQuotaParent);
  const std::string parent(said && !said->empty() ? *said : api::object::kRootQuota);
  if (!said || said->empty()) setText(labels, label::kQuotaParent, parent);
  if (parent == api::object::kRootQuota || !api::quotaTreeIdOf(decoded.meta.labels).empty())
    return {};
  const Quota* above = around.quotas ? around.quotas->find(parent) : nullptr;
  if (above == nullptr) return fail(Code::kNotFound, "parent quota '{}' does not exist", parent);
  if (!above->treeId.empty()) setText(labels, label::kQuotaTreeId, above->treeId);
  return {};
}

Result<> completeWeightOf(json::Object& quota, const api::ElasticQuota& decoded) {
  auto weight = api::parseQuotaResources(decoded.meta.annotations, annotation::kQuotaSharedWeight);
  if (!weight) return pass(weight.error());
  const api::ResourceList whole =
      *weight ? completeWeight(**weight, decoded.spec.max) : decoded.spec.max;
  if (*weight && **weight == whole) return {};
  setText(objectIn(metadataOf(quota), "annotations"), annotation::kQuotaSharedWeight,
          api::annotationText(whole));
  return {};
}

}  // namespace

api::ResourceList completeWeight(const api::ResourceList& weight, const api::ResourceList& max) {
  api::ResourceList out;
  for (const auto& [name, amount] : max) {
    const Quantity* said = weight.find(name);
    out.set(name, said != nullptr ? *said : amount);
  }
  return out;
}

Review mutateQuota(const AdmissionRequest& request, const Surroundings& around) {
  if (request.operation != Operation::kCreate) return {};
  auto quota = api::decode<api::ElasticQuota>(request.object);
  if (!quota)
    return Review::refuse(kBadRequest, "unreadable", "ElasticQuota: " + quota.error().text());
  if (quota->meta.name == api::object::kRootQuota) return {};
  const json::Value before = json::toValue(request.object);
  json::Value after = before;
  auto done = completeTree(after.get_object(), *quota, around);
  if (done) done = completeWeightOf(after.get_object(), *quota);
  if (!done) return Review::refuse(kBrokenHandler, "mutation", done.error().text());
  Review review;
  json::Value patch = json::jsonDiff(before, after);
  if (!patch.get_array().empty()) review.patch = std::move(patch);
  return review;
}

}  // namespace mangrove::manager
