#include "sim/seller.h"

#include "api/wire/names.h"
#include "manager/controllers/noderesource/node_sync.h"

namespace mangrove::sim {
namespace {

manager::PlanOptions planOptions(const Policy& policy) {
  manager::PlanOptions out;
  out.midResource = policy.predicts;
  out.cpuNormalization = out.resourceAmplification = false;
  out.gpuDeviceResource = out.rdmaDeviceResource = false;
  return out;
}

MilliCpu amountOf(const api::Node& node, std::string_view name) {
  return {node.status.allocatable.amount(name).value()};
}

}  // namespace

bool Seller::sell(WallTime now, std::span<const manager::PodFacts* const> pods,
                  const manager::MetricFacts& metric) {
  const manager::PlanOptions options = planOptions(policy_);
  const manager::NodePlan plan = manager::planNode({.node = *node_,
                                                    .pods = pods,
                                                    .metric = &metric,
                                                    .config = policy_.config,
                                                    .options = options,
                                                    .memory = memory_,
                                                    .now = now});
  memory_ = plan.memory;
  manager::NodeOwned after = manager::granted(*node_, plan.wish);
  std::optional<Duration> since;
  if (written_) since = now - *written_;
  const auto rule = manager::syncRule(plan.strategy.strategy, plan.byClock, since);
  if (!manager::judgeSync(manager::ownedOf(*node_), after, rule).status) return false;
  auto changed = std::make_shared<api::Node>(*node_);
  changed->status.capacity = std::move(after.capacity);
  changed->status.allocatable = std::move(after.allocatable);
  changed->meta.annotations = std::move(after.annotations);
  written_ = now;
  node_ = std::move(changed);
  return true;
}

MilliCpu Seller::batchCpu() const {
  return amountOf(*node_, api::resource::kBatchCpu);
}
MilliCpu Seller::midCpu() const {
  return amountOf(*node_, api::resource::kMidCpu);
}

}  // namespace mangrove::sim
