#include "manager/webhook/quota/validate.h"

#include <fmt/format.h>

#include "api/annotations/quota.h"
#include "api/wire/names.h"
#include "base/text/strings.h"

namespace mangrove::manager {
namespace {

Result<> checkNotNegative(std::string_view what, const api::ResourceList& amounts) {
  for (const auto& [name, amount] : amounts)
    if (amount.sign() < 0)
      return invalid("{}[{}] is {}; amounts of a quota are not negative", what, name.view(),
                     amount.text());
  return {};
}

Result<> checkMin(const Quota& quota) {
  for (const auto& [name, amount] : quota.min) {
    const Quantity* most = quota.max.find(name);
    if (most == nullptr)
      return invalid("spec.min[{}] is {}, but spec.max does not name it", name.view(),
                     amount.text());
    if (amount > *most)
      return invalid("spec.min[{}] is {}, more than spec.max allows ({})", name.view(),
                     amount.text(), most->text());
  }
  return {};
}

Result<> checkStrictKeys(const Quota& quota) {
  for (const std::string& key : quota.strictMaxKeys) {
    const Quantity* used = quota.used.find(key);
    if (used == nullptr) continue;
    const Quantity* most = quota.max.find(key);
    if (most == nullptr)
      return invalid("spec.max does not name {}, of which {} is in use", key, used->text());
    if (*most < *used)
      return invalid("spec.max[{}] is {}, less than what is in use ({})", key, most->text(),
                     used->text());
  }
  return {};
}

bool sameShape(const api::ElasticQuota& a, const api::ElasticQuota& b) {
  for (std::string_view key :
       {api::label::kQuotaParent, api::label::kQuotaIsParent, api::label::kQuotaTreeId})
    if (a.meta.labels.get(key) != b.meta.labels.get(key)) return false;
  const auto namespaces = api::annotation::kQuotaNamespaces;
  return a.meta.annotations.get(namespaces) == b.meta.annotations.get(namespaces) &&
         a.spec == b.spec;
}

struct Sides {
  api::ElasticQuota object, oldObject;
  Quota quota, old;
  bool hasOld = false;
};

Result<> readSide(json::View view, api::ElasticQuota& object, Quota& quota) {
  auto decoded = api::decode<api::ElasticQuota>(view);
  if (!decoded) return pass(decoded.error());
  auto read = quotaOf(*decoded);
  if (!read) return pass(read.error());
  object = std::move(*decoded);
  quota = std::move(*read);
  return {};
}

Result<> judgeUpdate(const Sides& sides, const Surroundings& around) {
  if (auto done = checkQuotaItself(sides.quota); !done) return done;
  if (sameShape(sides.object, sides.oldObject)) return {};
  if (api::isReservedQuota(sides.quota.name))
    return invalid("quota {} belongs to the system and may not be changed", sides.quota.name);
  if (auto done = checkNamespaces(sides.quota, *around.quotas); !done) return done;
  return checkTopology(sides.quota, &sides.old, around);
}

Result<> judgeCreate(const Quota& quota, const Surroundings& around) {
  if (around.quotas->find(quota.name) != nullptr)
    return invalid("quota {} exists already (in namespace {}); names are unique in the whole tree",
                   quota.name, around.quotas->find(quota.name)->ns);
  if (auto done = checkNamespaces(quota, *around.quotas); !done) return done;
  if (auto done = checkQuotaItself(quota); !done) return done;
  return checkTopology(quota, nullptr, around);
}

}  // namespace

Result<> checkQuotaItself(const Quota& quota) {
  if (auto done = checkNotNegative("spec.max", quota.max); !done) return done;
  if (auto done = checkNotNegative("spec.min", quota.min); !done) return done;
  if (auto done = checkNotNegative("shared-weight", quota.sharedWeight); !done) return done;
  if (auto done = checkMin(quota); !done) return done;
  return checkStrictKeys(quota);
}

Result<> checkNamespaces(const Quota& quota, const QuotaTree& tree) {
  for (const std::string& ns : quota.namespaces) {
    const Quota* other = tree.boundTo(ns);
    if (other != nullptr && other->name != quota.name)
      return invalid("namespace {} is bound to quota {} already", ns, other->name);
  }
  return {};
}

Result<> checkDeletion(const Quota& quota, const Surroundings& around) {
  if (api::isReservedQuota(quota.name) || quota.name == api::object::kDefaultQuota)
    return invalid("quota {} belongs to the system and may not be deleted", quota.name);
  const auto children = around.quotas->childrenOf(quota.name);
  if (!children.empty())
    return invalid("quota {} has {} children, {} among them; delete those first", quota.name,
                   children.size(), children.front()->name);
  if (!around.podsOfQuota) return {};
  const PodsOfQuota pods = around.podsOfQuota(quota.name, {});
  if (pods.count > 0)
    return invalid("quota {} has {} pods, {} among them", quota.name, pods.count,
                   join(pods.names, " and "));
  return {};
}

Review validateQuota(const AdmissionRequest& request, const Surroundings& around) {
  if (!around.quotas) return {};
  Sides sides;
  const bool deleting = request.operation == Operation::kDelete;
  sides.hasOld = request.operation != Operation::kCreate;
  auto done = Result<>();
  if (sides.hasOld) done = readSide(request.oldObject, sides.oldObject, sides.old);
  if (done && !deleting) done = readSide(request.object, sides.object, sides.quota);
  if (!done)
    return Review::refuse(kBadRequest, "unreadable", "ElasticQuota: " + done.error().text());
  if (request.operation == Operation::kCreate) done = judgeCreate(sides.quota, around);
  if (request.operation == Operation::kUpdate) done = judgeUpdate(sides, around);
  if (deleting) done = checkDeletion(sides.old, around);
  if (!done) return Review::refuse(kBadRequest, "quota", done.error().text());
  return {};
}

}  // namespace mangrove::manager
