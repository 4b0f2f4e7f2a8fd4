#include "manager/controllers/noderesource/node_sync.h"

#include <array>
#include <cmath>

#include "api/annotations/node.h"
#include "api/wire/names.h"
#include "manager/controllers/noderesource/alias_views.h"
#include "manager/controllers/noderesource/device_resources.h"
#include "manager/controllers/noderesource/zone_update.h"

namespace mangrove::manager {
namespace {

// A step of the two-decimal ratio that counts.
constexpr double kRatioStep = 0.01;
// Under a time policy.
constexpr double kClockThreshold = 0.05;
constexpr Duration kClockWait = std::chrono::seconds(60);

bool resourceDiffers(const NodeOwned& before, const NodeOwned& after, std::string_view name,
                     double threshold) {
  return differs(before.allocatable.find(name), after.allocatable.find(name), threshold);
}

bool statusDiffers(const NodeOwned& before, const NodeOwned& after, double threshold) {
  namespace r = api::resource;
  for (auto name : {r::kMidCpu, r::kMidMemory, r::kBatchCpu, r::kBatchMemory})
    if (resourceDiffers(before, after, name, threshold)) return true;
  for (const auto& view : aliasViews())
    if (resourceDiffers(before, after, view.cpuName, threshold) ||
        resourceDiffers(before, after, view.memoryName, threshold))
      return true;
  for (auto name : deviceResourceNames())
    if (resourceDiffers(before, after, name, 0)) return true;
  return false;
}

bool fell(const NodeOwned& before, const NodeOwned& after, std::string_view name) {
  const Quantity* old = before.allocatable.find(name);
  const Quantity* now = after.allocatable.find(name);
  return old && now && *now < *old;
}

bool anyFell(const NodeOwned& before, const NodeOwned& after) {
  if (fell(before, after, api::resource::kBatchCpu) ||
      fell(before, after, api::resource::kBatchMemory))
    return true;
  for (const auto& view : aliasViews())
    if (fell(before, after, view.cpuName) || fell(before, after, view.memoryName)) return true;
  return false;
}

bool ratioDiffers(const api::Annotations& before, const api::Annotations& after) {
  const auto old = api::parseCpuNormalizationRatio(before);
  if (!old) return true;
  const auto now = api::parseCpuNormalizationRatio(after);
  if (!now) return false;
  if (old->has_value() != now->has_value()) return true;
  // In this order: a difference of the two would be a last bit above the step.
  return old->has_value() && (**old > **now + kRatioStep || **old < **now - kRatioStep);
}

bool labelsDiffer(const api::Labels& before, const api::Labels& after) {
  for (auto key : deviceLabelNames())
    if (before.get(key) != after.get(key)) return true;
  return false;
}

bool metaDiffers(const NodeOwned& before, const NodeOwned& after) {
  const auto amplified = [](const NodeOwned& n) {
    return n.annotations.get(api::annotation::kResourceAmplificationRatio).value_or("");
  };
  return ratioDiffers(before.annotations, after.annotations) ||
         amplified(before) != amplified(after) || labelsDiffer(before.labels, after.labels);
}

}  // namespace

SyncVerdict judgeSync(const NodeOwned& before, const NodeOwned& after, const SyncRule& rule) {
  if (after.allocatable.empty() || after.capacity.empty()) return {};
  SyncVerdict out;
  out.status = !rule.sinceStatusWrite || *rule.sinceStatusWrite > rule.longestWait ||
               statusDiffers(before, after, rule.diffThreshold) ||
               (rule.dropsAtOnce && anyFell(before, after));
  out.meta = metaDiffers(before, after);
  return out;
}

SyncRule syncRule(const Colocation& strategy, bool byClock,
                  std::optional<Duration> sinceStatusWrite) {
  SyncRule out;
  out.sinceStatusWrite = sinceStatusWrite;
  out.diffThreshold = strategy.resourceDiffThreshold.value_or(out.diffThreshold);
  if (strategy.updateTimeThresholdSeconds)
    out.longestWait = std::chrono::seconds(*strategy.updateTimeThresholdSeconds);
  if (byClock) {
    out.diffThreshold = kClockThreshold;
    out.longestWait = kClockWait;
    out.dropsAtOnce = true;
  }
  if (!strategy.aliasViews.empty()) out.dropsAtOnce = true;
  if (strategy.steadyReclaim && strategy.steadyReclaim->enable.value_or(false))
    out.diffThreshold = 0;
  return out;
}

api::SaleRule saleRuleOf(const Colocation& strategy, bool byClock) {
  const SyncRule rule = syncRule(strategy, byClock, {});
  return {rule.dropsAtOnce ? 0 : rule.diffThreshold, rule.longestWait};
}

}  // namespace mangrove::manager
