// The place of a quota in its tree: parents that are parents, one tree id, the same resources above
// and below, and guarantees that add up.
#include <algorithm>

#include <fmt/format.h>

#include "api/wire/names.h"
#include "base/text/strings.h"
#include "manager/webhook/quota/validate.h"

namespace mangrove::manager {
namespace {

using api::ResourceList;

bool isTop(const Quota& quota) {
  return quota.parent.empty() || quota.parent == api::object::kRootQuota;
}

Result<> checkParentFlag(const Quota& quota, const Quota& old, const Surroundings& around) {
  if (quota.isParent == old.isParent) return {};
  if (!quota.isParent) {
    const auto children = around.quotas->childrenOf(quota.name);
    if (children.empty()) return {};
    return invalid("quota {} has {} children and must stay a parent", quota.name, children.size());
  }
  if (!around.podsOfQuota) return {};
  std::vector<std::string> namespaces = old.namespaces;
  namespaces.push_back(quota.name);
  const PodsOfQuota pods = around.podsOfQuota(quota.name, namespaces);
  if (pods.count == 0) return {};
  return invalid("quota {} has {} pods ({}) and cannot become a parent", quota.name, pods.count,
                 join(pods.names, ", "));
}

Result<> checkTreeId(const Quota& quota, const Quota* old, const Quota* parent,
                     const QuotaTree& tree) {
  if (old != nullptr && old->treeId != quota.treeId)
    return invalid("the tree id of quota {} may not change ('{}' to '{}')", quota.name, old->treeId,
                   quota.treeId);
  if (parent != nullptr && parent->treeId != quota.treeId)
    return invalid("quota {} has tree id '{}', its parent {} has '{}'", quota.name, quota.treeId,
                   parent->name, parent->treeId);
  for (const Quota* child : tree.childrenOf(quota.name))
    if (child->treeId != quota.treeId)
      return invalid("quota {} has tree id '{}', its child {} has '{}'", quota.name, quota.treeId,
                     child->name, child->treeId);
  return {};
}

// The first key of `inner` that `outer` lacks.
const api::ResourceList::Entry* keyBeyond(const ResourceList& inner, const ResourceList& outer) {
  for (const auto& entry : inner)
    if (outer.find(entry.name) == nullptr) return &entry;
  return nullptr;
}

Result<> checkKeys(const Quota& child, const Quota& parent, bool mayBeFewer) {
  if (const auto* beyond = keyBeyond(child.max, parent.max))
    return invalid("spec.max of quota {} names {}, which its parent {} does not", child.name,
                   beyond->name.view(), parent.name);
  const auto* missing = keyBeyond(parent.max, child.max);
  if (missing != nullptr && !mayBeFewer)
    return invalid("spec.max of quota {} lacks {}, which its parent {} names", child.name,
                   missing->name.view(), parent.name);
  if (const auto* beyond = keyBeyond(child.min, parent.min))
    return invalid("spec.min of quota {} names {}, which its parent {} does not", child.name,
                   beyond->name.view(), parent.name);
  return {};
}

Result<> checkFits(const ResourceList& sum, const Quota& parent, std::string_view what) {
  for (const auto& [name, amount] : sum)
    if (amount > parent.min.amount(name.view()))
      return invalid("{} of quota {} add up to {} of {}, more than its own spec.min ({})", what,
                     parent.name, amount.text(), name.view(),
                     parent.min.amount(name.view()).text());
  return {};
}

Result<> checkMinSums(const Quota& quota, const Quota* parent, const QuotaTree& tree) {
  if (quota.forced || quota.isRoot) return {};
  if (parent != nullptr) {
    ResourceList sum = quota.min;
    for (const Quota* sibling : tree.childrenOf(parent->name))
      if (sibling->name != quota.name) sum.add(sibling->min);
    if (auto done = checkFits(sum, *parent, "spec.min of the children"); !done) return done;
  }
  ResourceList below;
  for (const Quota* child : tree.childrenOf(quota.name)) below.add(child->min);
  return checkFits(below, quota, "spec.min of the children");
}

bool covers(const ResourceList& large, const ResourceList& small) {
  return std::all_of(small.begin(), small.end(), [&](const auto& entry) {
    return entry.amount <= large.amount(entry.name.view());
  });
}

// What is guaranteed to a quota must be guaranteed by somebody above it.
Result<> checkGuarantee(const Quota& quota, const QuotaTree& tree) {
  if (quota.treeId.empty() || quota.isRoot || quota.forced) return {};
  if (covers(quota.guaranteed, quota.min)) return {};
  ResourceList wanted = quota.min;
  wanted.raiseTo(quota.guaranteed);
  std::string child = quota.name;
  for (const Quota* above = tree.find(quota.parent); above != nullptr;
       above = tree.find(above->parent)) {
    ResourceList sum = wanted;
    for (const Quota* sibling : tree.childrenOf(above->name))
      if (sibling->name != child) sum.add(sibling->guaranteed);
    sum.raiseTo(above->min);
    if (covers(above->guaranteed, sum)) return {};
    wanted = std::move(sum);
    child = above->name;
    if (above->isRoot) break;
  }
  return invalid("spec.min of quota {} is more than the quotas above it guarantee", quota.name);
}

}  // namespace

Result<> checkTopology(const Quota& quota, const Quota* old, const Surroundings& around) {
  if (quota.name == api::object::kRootQuota) return {};
  const QuotaTree& tree = *around.quotas;
  if (old != nullptr)
    if (auto done = checkParentFlag(quota, *old, around); !done) return done;
  const Quota* parent = isTop(quota) ? nullptr : tree.find(quota.parent);
  if (auto done = checkTreeId(quota, old, parent, tree); !done) return done;
  if (isTop(quota) && !quota.isParent) return {};
  if (!isTop(quota) && parent == nullptr)
    return invalid("parent quota {} of {} does not exist", quota.parent, quota.name);
  if (parent != nullptr && !parent->isParent)
    return invalid("quota {} is no parent: label {} is not \"true\"", parent->name,
                   api::label::kQuotaIsParent);
  const bool fewer = around.gates.quotaEnableUpdateResourceKey;
  if (parent != nullptr)
    if (auto done = checkKeys(quota, *parent, fewer); !done) return done;
  for (const Quota* child : tree.childrenOf(quota.name))
    if (auto done = checkKeys(*child, quota, fewer); !done) return done;
  if (auto done = checkMinSums(quota, parent, tree); !done) return done;
  return around.gates.quotaGuaranteeUsage ? checkGuarantee(quota, tree) : Result<>();
}

}  // namespace mangrove::manager
