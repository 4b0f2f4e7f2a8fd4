#pragma once
// The quota tree as admission sees it: what ElasticQuota objects say, by name. Names are global in
// Koordinator's quota system although the objects are namespaced.
//
//   QuotaTree tree(std::move(quotas), std::move(nodesOfTrees));
//   if (const Quota* q = tree.resolve(podLabelOrEmpty, "team-a", false)) …
//
// Immutable; any thread.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/koordinator/elastic_quota.h"
#include "api/pod/resource_list.h"
#include "api/select/label_selector.h"
#include "base/result.h"

namespace mangrove::manager {

struct Quota {
  std::string ns, name;
  std::string parent;  // the root quota's name at the top
  std::string treeId;
  bool isParent = false;
  bool isRoot = false;  // the root of its own tree
  bool forced = false;  // label allow-force-update
  api::ResourceList min, max, used;
  api::ResourceList guaranteed;            // annotation; empty when absent
  api::ResourceList childRequest;          // annotation; empty when absent
  api::ResourceList admission;             // annotation; empty when absent
  std::vector<std::string> namespaces;     // annotation
  std::vector<std::string> strictMaxKeys;  // annotation max-strict-check-resource-keys
  api::ResourceList sharedWeight;          // annotation; empty when absent
  std::string resourceVersion;
};

// Errors name the annotation that cannot be read.
Result<Quota> quotaOf(const api::ElasticQuota& object);

struct PodsOfQuota {
  size_t count = 0;
  std::vector<std::string> names;  // of the first two, "ns/name"
};
// Pods labelled with the quota or living in one of the namespaces.
using AskPodsOfQuota =
    std::function<PodsOfQuota(std::string_view quota, const std::vector<std::string>& namespaces)>;

class QuotaTree {
 public:
  using TreeNodes = std::map<std::string, api::LabelSelector, std::less<>>;  // by tree id
  QuotaTree() = default;
  explicit QuotaTree(std::vector<Quota> quotas, TreeNodes nodes = {});

  const Quota* find(std::string_view name) const;  // the first of that name
  size_t countOf(std::string_view name) const;     // in all namespaces
  std::vector<const Quota*> childrenOf(std::string_view parent) const;
  const Quota* boundTo(std::string_view ns) const;  // by the annotation namespaces
  // The nodes a tree is limited to; null: any.
  const api::LabelSelector* nodesOf(std::string_view treeId) const;

  // The name of the quota a pod counts in: its label, the namesake of its namespace there, the
  // quota bound to the namespace, the default quota.
  std::string nameFor(std::string_view label, std::string_view ns, bool noNamespaceQuota) const;

  const std::vector<Quota>& all() const { return quotas_; }

 private:
  std::vector<Quota> quotas_;
  std::multimap<std::string, size_t, std::less<>> byName_, byParent_, byNamespace_;
  TreeNodes nodes_;
};

}  // namespace mangrove::manager
