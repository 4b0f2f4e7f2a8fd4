#include "api/annotations/quota.h"

#include <algorithm>

namespace mangrove::api {

bool isParentQuota(const Labels& quota) {
  return isTrueLabel(quota, label::kQuotaIsParent);
}
bool isRootQuota(const Labels& quota) {
  return isTrueLabel(quota, label::kQuotaIsRoot);
}
bool allowsLending(const Labels& quota) {
  return quota.get(label::kQuotaAllowLentResource) != "false";
}
bool allowsForceUpdate(const Labels& quota) {
  return isTrueLabel(quota, label::kQuotaAllowForceUpdate);
}
bool ignoresDefaultTree(const Labels& quota) {
  return isTrueLabel(quota, label::kQuotaIgnoreDefaultTree);
}
std::string_view quotaTreeIdOf(const Labels& quota) {
  return quota.get(label::kQuotaTreeId).value_or("");
}
std::string_view quotaProfileOf(const Labels& quota) {
  return quota.get(label::kQuotaProfile).value_or("");
}

std::string_view parentQuotaOf(const ObjectMeta& quota) {
  const auto parent = quota.labels.get(label::kQuotaParent).value_or("");
  return parent.empty() && quota.name != object::kRootQuota ? object::kRootQuota : parent;
}

bool isReservedQuota(std::string_view name) {
  return name == object::kSystemQuota || name == object::kRootQuota;
}

std::string_view quotaNameOf(const Labels& pod) {
  return quotaHandleOf(pod).view();
}
Interned quotaHandleOf(const Labels& pod) {
  static const Interned key(label::kQuotaName);
  const Interned* name = pod.find(key);
  return name == nullptr ? Interned() : *name;
}
bool isPreemptibleInQuota(const Labels& pod) {
  static const Interned key(label::kQuotaPreemptible);
  const Interned* said = pod.find(key);
  return said == nullptr || !(*said == std::string_view("false"));
}

Result<std::optional<ResourceList>> parseQuotaResources(const Annotations& quota,
                                                        std::string_view key) {
  return parseAnnotation<ResourceList>(quota, key, WhenEmpty::kAbsent);
}

ResourceList sharedWeightOf(const ElasticQuota& quota) {
  const auto weight = parseQuotaResources(quota.meta.annotations, annotation::kQuotaSharedWeight);
  const bool isSet = weight && *weight &&
                     std::any_of((*weight)->begin(), (*weight)->end(),
                                 [](const auto& entry) { return !entry.amount.isZero(); });
  return isSet ? **weight : quota.spec.max;
}

Result<std::optional<std::vector<std::string>>> parseQuotaList(const Annotations& quota,
                                                               std::string_view key) {
  return parseAnnotation<std::vector<std::string>>(quota, key, WhenEmpty::kAbsent);
}

}  // namespace mangrove::api
