#include "manager/controllers/quotaprofile/quota_of_profile.h"

#include <fmt/core.h>

#include "api/annotations/annotation.h"
#include "api/wire/kind.h"
#include "api/wire/names.h"
#include "base/number/fnv.h"

namespace mangrove::manager {
namespace {

namespace annotation = api::annotation;
namespace label = api::label;

double ratioOf(const api::QuotaProfile& profile) {
  if (!profile.spec.resourceRatio) return 1;
  const auto ratio = api::parseGoFloat(*profile.spec.resourceRatio);
  return ratio && *ratio > 0 && *ratio <= 1 ? *ratio : 1;
}

api::ResourceList scaled(const api::ResourceList& list, double ratio) {
  api::ResourceList out;
  for (const auto& [name, amount] : list) {
    const bool isCpu = name.view() == api::resource::kCpu;
    out.set(name, isCpu ? amount.mulMilli(ratio) : amount.mul(ratio));
  }
  return out;
}

Result<std::vector<std::string>> keysOf(const api::QuotaProfile& profile) {
  const auto keys = api::parseAnnotation<std::vector<std::string>>(
      profile.meta.annotations, annotation::kQuotaResourceKeys, api::WhenEmpty::kAbsent);
  if (!keys) return pass(keys.error());
  if (*keys) return **keys;
  return std::vector<std::string>{std::string(api::resource::kCpu),
                                  std::string(api::resource::kMemory)};
}

json::Object listPatch(const api::ResourceList& have, const api::ResourceList& want) {
  json::Object out;
  for (const auto& [name, amount] : want) {
    const Quantity* now = have.find(name);
    if (now == nullptr || *now != amount) out[name.view()] = api::toJson(amount);
  }
  for (const auto& [name, amount] : have)
    if (want.find(name) == nullptr) out[name.view()] = nullptr;
  return out;
}

bool holds(const api::Annotations& annotations, std::string_view key,
           const api::ResourceList& want) {
  const auto have = api::parseAnnotation<api::ResourceList>(annotations, key);
  return have && *have && **have == want;
}

std::string textOf(const api::ResourceList& list) {
  return api::writeLikeGo(list.toJson());
}

}  // namespace

std::string treeIdOf(const api::QuotaProfile& profile) {
  const auto given = profile.meta.labels.get(label::kQuotaTreeId);
  if (given && !given->empty()) return std::string(*given);
  return std::to_string(
      fnv1a(fmt::format("{}/{}", profile.meta.ns.view(), profile.meta.name.view())));
}

Result<ProfiledQuota> quotaOf(const api::QuotaProfile& profile,
                              std::span<const api::Node* const> nodes) {
  ProfiledQuota out;
  out.treeId = treeIdOf(profile);
  const auto keys = keysOf(profile);
  if (!keys) return pass(keys.error());
  api::ResourceList total, unschedulable;
  for (const api::Node* node : nodes) {
    total.add(node->status.allocatable);
    if (node->spec.unschedulable || !node->isReady()) unschedulable.add(node->status.allocatable);
  }
  const double ratio = ratioOf(profile);
  out.total = scaled(total, ratio);
  out.unschedulable = scaled(unschedulable, ratio);
  for (const auto& key : *keys) {
    out.spec.min.set(key, out.total.amount(key));
    out.spec.max.set(key, Quantity::of(kUnlimited));
  }
  out.labels[std::string(label::kQuotaProfile)] = profile.meta.name.str();
  for (const auto& [key, value] : profile.spec.quotaLabels) out.labels[key] = value;
  out.labels[std::string(label::kQuotaTreeId)] = out.treeId;
  out.labels[std::string(label::kQuotaIsRoot)] = "true";
  return out;
}

json::Object patchOf(const api::ElasticQuota& quota, const ProfiledQuota& wanted) {
  json::Object labels, annotations, spec, meta, out;
  for (const auto& [key, value] : wanted.labels)
    if (quota.meta.labels.get(key) != std::string_view(value)) labels[key] = value;
  if (!holds(quota.meta.annotations, annotation::kQuotaTotalResource, wanted.total))
    annotations[annotation::kQuotaTotalResource] = textOf(wanted.total);
  if (!holds(quota.meta.annotations, annotation::kQuotaUnschedulableResource, wanted.unschedulable))
    annotations[annotation::kQuotaUnschedulableResource] = textOf(wanted.unschedulable);
  if (auto min = listPatch(quota.spec.min, wanted.spec.min); !min.empty()) spec["min"] = min;
  if (auto max = listPatch(quota.spec.max, wanted.spec.max); !max.empty()) spec["max"] = max;
  if (!labels.empty()) meta["labels"] = labels;
  if (!annotations.empty()) meta["annotations"] = annotations;
  if (!meta.empty()) out["metadata"] = meta;
  if (!spec.empty()) out["spec"] = spec;
  return out;
}

json::Object objectOf(const api::QuotaProfile& profile, const ProfiledQuota& wanted) {
  json::Object labels;
  for (const auto& [key, value] : wanted.labels) labels[key] = value;
  const json::Object annotations = {
      {annotation::kQuotaTotalResource, textOf(wanted.total)},
      {annotation::kQuotaUnschedulableResource, textOf(wanted.unschedulable)}};
  return {{"apiVersion", api::kind::kElasticQuota.apiVersion()},
          {"kind", api::kind::kElasticQuota.kind},
          {"metadata",
           {{"name", profile.spec.quotaName},
            {"namespace", profile.meta.ns.view()},
            {"labels", labels},
            {"annotations", annotations}}},
          {"spec", toJson(wanted.spec)}};
}

}  // namespace mangrove::manager
