#include "manager/gates.h"

#include <vector>

#include "manager/controllers/list.h"
#include "manager/webhook/gates.h"

namespace mangrove::manager {
namespace {

std::vector<GateInfo> allGates() {
  std::vector<GateInfo> out = {
      {"WebhookFramework", true, Maturity::kBeta, "accepted, without effect"},
      {"PriorityTransformer", false, Maturity::kAlpha, "accepted, without effect"},
      {"PreemptionPolicyTransformer", false, Maturity::kAlpha, "accepted, without effect"},
  };
  for (const auto& controller : allControllers()) {
    if (controller.gate) out.push_back(*controller.gate);
    out.insert(out.end(), controller.moreGates.begin(), controller.moreGates.end());
  }
  for (const auto& webhook : kWebhookGates) out.push_back(webhook.info);
  return out;
}

}  // namespace

std::span<const GateInfo> managerGates() {
  static const std::vector<GateInfo> kAll = allGates();
  return kAll;
}

}  // namespace mangrove::manager
