#include "manager/gates.h"

#include <vector>

#include "manager/webhook/gates.h"

namespace mangrove::manager {
namespace {

std::vector<GateInfo> allGates() {
  std::vector<GateInfo> out = {
      {gate::kSyncGpuShared, false, Maturity::kAlpha, "write koordinator.sh/gpu.shared on nodes"},
      {gate::kColocationProfileController, false, Maturity::kAlpha,
       "apply profiles to pods that exist already"},
      {"WebhookFramework", true, Maturity::kBeta, "accepted, without effect"},
      {"PriorityTransformer", false, Maturity::kAlpha, "accepted, without effect"},
      {"PreemptionPolicyTransformer", false, Maturity::kAlpha, "accepted, without effect"},
      {"ReplaceResourcesTransformer", false, Maturity::kAlpha, "accepted, without effect"},
  };
  for (const auto& webhook : kWebhookGates) out.push_back(webhook.info);
  return out;
}

}  // namespace

std::span<const GateInfo> managerGates() {
  static const std::vector<GateInfo> kAll = allGates();
  return kAll;
}

}  // namespace mangrove::manager
