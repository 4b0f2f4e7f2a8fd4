#pragma once
// What admission handlers know of the cluster: an immutable picture, replaced part by part as the
// caches move on (cluster_picture.h). A handler reads one picture from start to end, so that its
// answer is a function of values.
//
//   Surroundings now;
//   now.profiles = std::make_shared<const ProfileIndex>(…);
//   Review review = mutatePod(request, now);
//
// Parts are never null. Copy freely; any thread.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/pod/pod.h"
#include "api/pod/pod_spec.h"
#include "api/select/labels.h"
#include "base/number/quantity.h"
#include "manager/profile/profile_index.h"
#include "manager/webhook/gates.h"
#include "manager/webhook/quota/tree.h"

namespace mangrove::manager {

struct PriorityClassInfo {
  int32_t value = 0;
  api::PreemptionPolicy preemption = api::PreemptionPolicy::kUnset;
};
using PriorityClasses = std::map<std::string, PriorityClassInfo, std::less<>>;
using NamespaceLabels = std::map<std::string, api::Labels, std::less<>>;
using ConfigData = std::map<std::string, std::string>;  // keys of the SLO ConfigMap

struct NodeLabels {
  std::string name;
  api::Labels labels;
};

// What becomes of pods that ask for colocation by label.
struct ColocationByLabel {
  bool casterNames = false;  // caster.io/colocation-cpu instead of kubernetes.io/batch-cpu
  bool refuseWithoutAmounts = false;
  Quantity missingCpu = Quantity::of(1);
  Quantity missingMemory = Quantity::of(kGiB * 2);
};

struct EnhancedRule {
  std::string name;
  std::vector<std::string> requiredLabels;
  std::vector<std::string> namespaceWhitelist;
};

struct BindingRules {
  std::vector<std::string> allowedUsers;  // parts of user names; none: everybody
  std::vector<std::string> namespaces;    // none: nowhere; "*": everywhere
  std::vector<std::string> excludedNamespaces = {"kube-system"};
  std::vector<std::string> bypassLabels = {"koordinator.sh/binding-admission-bypass"};
  std::vector<std::string> bypassAnnotations;
  bool dryRun = false;  // say what would be refused, and allow it
};

struct Surroundings {
  std::shared_ptr<const ProfileIndex> profiles = std::make_shared<const ProfileIndex>();
  std::shared_ptr<const NamespaceLabels> namespaces = std::make_shared<const NamespaceLabels>();
  std::shared_ptr<const PriorityClasses> priorityClasses =
      std::make_shared<const PriorityClasses>();
  std::shared_ptr<const QuotaTree> quotas;  // null: nothing is known of quotas
  std::shared_ptr<const ConfigData> sloConfig = std::make_shared<const ConfigData>();
  std::shared_ptr<const std::vector<NodeLabels>> nodes =
      std::make_shared<const std::vector<NodeLabels>>();
  std::shared_ptr<const std::vector<EnhancedRule>> enhancedRules =
      std::make_shared<const std::vector<EnhancedRule>>();
  std::shared_ptr<const BindingRules> binding = std::make_shared<const BindingRules>();

  WebhookGates gates;
  ColocationByLabel byLabel;
  bool entryNamesRequired = false;  // --node-strategy-name-need-check
  std::string defaultScheduler;     // for rewritten workloads; "": left alone

  // 0…99 for the chance of a profile. Without it the draw follows from the question's uid, so that
  // the same question always gets the same answer.
  std::function<int()> draw;

  // Looks into the caches of the owner thread; only there, and only where the shell provides them.
  std::function<std::shared_ptr<const api::Pod>(std::string_view ns, std::string_view name)>
      findPod;
  AskPodsOfQuota podsOfQuota;

  const api::Labels* labelsOf(std::string_view ns) const {
    const auto found = namespaces->find(ns);
    return found == namespaces->end() ? nullptr : &found->second;
  }
};

}  // namespace mangrove::manager
