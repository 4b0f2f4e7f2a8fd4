#include "manager/webhook/quota/dump.h"

#include <map>

#include "client/key.h"
#include "json/value.h"

namespace mangrove::manager {
namespace {

json::Object shown(const Quota& quota, const QuotaTree& tree) {
  json::Array children, namespaces;
  for (const Quota* child : tree.childrenOf(quota.name)) children.emplace_back(child->name);
  for (const auto& ns : quota.namespaces) namespaces.emplace_back(ns);
  return {{"parent", quota.parent},
          {"treeId", quota.treeId},
          {"isParent", quota.isParent},
          {"isRoot", quota.isRoot},
          {"min", quota.min.toJson()},
          {"max", quota.max.toJson()},
          {"used", quota.used.toJson()},
          {"guaranteed", quota.guaranteed.toJson()},
          {"childRequest", quota.childRequest.toJson()},
          {"namespaces", std::move(namespaces)},
          {"children", std::move(children)}};
}

}  // namespace

std::string dumpQuotas(const QuotaTree& tree) {
  std::map<std::string, const Quota*> sorted;
  for (const Quota& quota : tree.all()) sorted[client::keyOf(quota.ns, quota.name)] = &quota;
  json::Object out;
  for (const auto& [key, quota] : sorted) out[key] = shown(*quota, tree);
  return json::write(out);
}

}  // namespace mangrove::manager
