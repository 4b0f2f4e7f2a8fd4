#include "manager/access.h"

#include "manager/controllers/list.h"

namespace mangrove::manager {
namespace {

namespace kind = client::kind;

}  // namespace

// The caches and the configuration, Events, the Lease, a look whether our namespace is there, and
// what the dashboard shows beyond that.
std::vector<Access> managerAccess() {
  std::vector<Access> out = {
      {kind::kNode, kFollow},
      {kind::kPod, kFollow},
      {kind::kNodeMetric, kFollow},
      {kind::kNodeSlo, kFollow},
      {kind::kDevice, kFollow},
      {kind::kNodeResourceTopology, kFollow},
      {kind::kConfigMap, kFollow},
      {kind::kNamespace, "get"},
      {kind::kEvent, "create patch"},
      {kind::kLease, "get watch create patch"},
      {kind::kPodMigrationJob, kFollow},
  };
  for (const auto& controller : allControllers())
    out.insert(out.end(), controller.access.begin(), controller.access.end());
  return out;
}

// A quota is also created, as a dry run: that shows whether the API server calls us.
std::vector<Access> admissionAccess() {
  constexpr std::string_view kRegister = "list watch patch";
  return {
      {kind::kMutatingWebhook, kRegister},
      {kind::kValidatingWebhook, kRegister},
      {kind::kClusterColocationProfile, kFollow},
      {kind::kElasticQuotaProfile, kFollow},
      {kind::kElasticQuota, "list watch create patch"},
      {kind::kPriorityClass, kFollow},
      {kind::kNamespace, kFollow},
      {kind::kPod, kFollow},
      {kind::kNode, kFollow},
      {kind::kResourceQuota, kFollow},
      {kind::kEvent, "create patch"},
      {kind::kSecret, "get create patch"},
  };
}

}  // namespace mangrove::manager
