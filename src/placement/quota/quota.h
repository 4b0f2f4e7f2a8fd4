#pragma once
// The quotas as their objects describe them, by name, and which of them a pod counts in. Names are
// global although the objects are namespaced. The webhooks and the scheduler both ask here, so that
// they cannot disagree.
//
//   QuotaTree tree(std::move(quotas), std::move(nodesOfTrees));
//   std::string name = tree.nameFor(podLabelOrEmpty, "team-a", false);
//
// Immutable; any thread.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/koordinator/elastic_quota.h"
#include "api/pod/resource_list.h"
#include "api/select/label_selector.h"
#include "base/result.h"

namespace mangrove::placement {

struct Quota {
  std::string ns, name;
  std::string parent;  // the root quota's name at the top
  std::string treeId;
  bool isParent = false;
  bool isRoot = false;              // the root of its own tree
  bool forced = false;              // label allow-force-update
  bool lends = true;                // label allow-lent-resource is not "false"
  bool ignoresDefaultTree = false;  // its total is not taken from the default tree's
  api::ResourceList min, max, used;
  api::ResourceList guaranteed;            // annotation; empty when absent
  api::ResourceList childRequest;          // annotation; empty when absent
  api::ResourceList admission;             // annotation; empty when absent
  api::ResourceList total;                 // annotation total-resource, of a tree's root
  std::vector<std::string> namespaces;     // annotation
  std::vector<std::string> strictMaxKeys;  // annotation max-strict-check-resource-keys
  api::ResourceList sharedWeight;          // annotation; empty when absent
  std::string resourceVersion;

  // What counts when the rest is divided: the maximum where the annotation says nothing.
  const api::ResourceList& weight() const;
};

// Errors name the annotation that cannot be read.
Result<Quota> quotaOf(const api::ElasticQuota& object);
// What can be read of it; annotations that cannot be read count as absent and are named in `faults`.
Quota readableQuotaOf(const api::ElasticQuota& object, std::vector<std::string>& faults);

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

}  // namespace mangrove::placement
