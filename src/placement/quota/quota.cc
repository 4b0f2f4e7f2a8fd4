#include "placement/quota/quota.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "api/annotations/quota.h"
#include "api/wire/names.h"

namespace mangrove::placement {
namespace {

namespace annotation = api::annotation;

template <class T>
void take(Result<std::optional<T>> read, T& into, std::vector<std::string>& faults) {
  if (!read)
    faults.push_back(read.error().text());
  else if (*read)
    into = std::move(**read);
}

bool isAllZero(const api::ResourceList& list) {
  return std::all_of(list.begin(), list.end(),
                     [](const auto& entry) { return entry.amount.isZero(); });
}

}  // namespace

const api::ResourceList& Quota::weight() const {
  return isAllZero(sharedWeight) ? max : sharedWeight;
}

Quota readableQuotaOf(const api::ElasticQuota& object, std::vector<std::string>& faults) {
  const api::Labels& labels = object.meta.labels;
  const api::Annotations& notes = object.meta.annotations;
  Quota out;
  out.ns = object.meta.ns.str();
  out.name = object.meta.name.str();
  out.parent = api::parentQuotaOf(object.meta);
  out.treeId = api::quotaTreeIdOf(labels);
  out.isParent = api::isParentQuota(labels);
  out.isRoot = api::isRootQuota(labels);
  out.forced = api::allowsForceUpdate(labels);
  out.lends = api::allowsLending(labels);
  out.ignoresDefaultTree = api::ignoresDefaultTree(labels);
  out.min = object.spec.min;
  out.max = object.spec.max;
  out.used = object.status.used;
  out.resourceVersion = object.meta.resourceVersion;
  for (auto& [key, into] : {std::pair{annotation::kQuotaGuaranteed, &out.guaranteed},
                            std::pair{annotation::kQuotaChildRequest, &out.childRequest},
                            std::pair{annotation::kQuotaAdmission, &out.admission},
                            std::pair{annotation::kQuotaTotalResource, &out.total},
                            std::pair{annotation::kQuotaSharedWeight, &out.sharedWeight}})
    take(api::parseQuotaResources(notes, key), *into, faults);
  for (auto& [key, into] :
       {std::pair{annotation::kQuotaNamespaces, &out.namespaces},
        std::pair{annotation::kQuotaMaxStrictCheckResourceKeys, &out.strictMaxKeys}})
    take(api::parseQuotaList(notes, key), *into, faults);
  return out;
}

Result<Quota> quotaOf(const api::ElasticQuota& object) {
  std::vector<std::string> faults;
  Quota out = readableQuotaOf(object, faults);
  if (!faults.empty()) return invalid("{}", faults.front());
  return out;
}

QuotaTree::QuotaTree(std::vector<Quota> quotas, TreeNodes nodes)
    : quotas_(std::move(quotas)), nodes_(std::move(nodes)) {
  for (size_t i = 0; i < quotas_.size(); ++i) {
    byName_.emplace(quotas_[i].name, i);
    byParent_.emplace(quotas_[i].parent, i);
    for (const std::string& ns : quotas_[i].namespaces) byNamespace_.emplace(ns, i);
  }
}

const Quota* QuotaTree::find(std::string_view name) const {
  const auto found = byName_.find(name);
  return found == byName_.end() ? nullptr : &quotas_[found->second];
}

size_t QuotaTree::countOf(std::string_view name) const {
  return byName_.count(name);
}

std::vector<const Quota*> QuotaTree::childrenOf(std::string_view parent) const {
  std::vector<const Quota*> out;
  const auto [first, last] = byParent_.equal_range(parent);
  for (auto at = first; at != last; ++at) out.push_back(&quotas_[at->second]);
  return out;
}

const Quota* QuotaTree::boundTo(std::string_view ns) const {
  const auto found = byNamespace_.find(ns);
  return found == byNamespace_.end() ? nullptr : &quotas_[found->second];
}

const api::LabelSelector* QuotaTree::nodesOf(std::string_view treeId) const {
  const auto found = nodes_.find(treeId);
  return found == nodes_.end() ? nullptr : &found->second;
}

std::string QuotaTree::nameFor(std::string_view label, std::string_view ns,
                               bool noNamespaceQuota) const {
  if (!label.empty()) return std::string(label);
  if (!noNamespaceQuota) {
    const auto [first, last] = byName_.equal_range(ns);
    for (auto at = first; at != last; ++at)
      if (quotas_[at->second].ns == ns) return std::string(ns);
  }
  if (const Quota* bound = boundTo(ns)) return bound->name;
  return std::string(api::object::kDefaultQuota);
}

}  // namespace mangrove::placement
