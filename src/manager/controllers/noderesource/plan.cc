#include "manager/controllers/noderesource/plan.h"

#include <algorithm>

#include "api/annotations/node.h"
#include "api/object/node_pause.h"
#include "api/object/own_runner.h"
#include "api/wire/names.h"
#include "base/text/strings.h"
#include "manager/controllers/noderesource/batch_prepare.h"
#include "manager/controllers/noderesource/device_resources.h"
#include "manager/controllers/noderesource/ratios.h"
#include "manager/controllers/noderesource/zone_amounts.h"

namespace mangrove::manager {
namespace {

namespace annotation = api::annotation;

void complain(NodePlan& plan, std::string_view plugin, const Error& error) {
  plan.troubles.push_back({plugin, error.text()});
}

void judgeEnabled(NodePlan& plan, const PlanInputs& in) {
  plan.strategy = colocationFor(in.config.colocation.config, in.node.meta);
  if (!plan.strategy.ignored.empty())
    plan.troubles.push_back({"ColocationStrategy", plan.strategy.ignored});
  if (auto ignored = reservationOf(in.node).ignored; !ignored.empty())
    plan.troubles.push_back({"NodeReservation", "ignored: " + ignored});
  const bool cluster = in.config.colocation.config.cluster.enable.value_or(false);
  const bool node = plan.strategy.strategy.enable.value_or(false);
  if (!cluster && !in.options.mostSpecificEnable)
    plan.disabledBecause = "colocation is not enabled for the cluster";
  else if (!node)
    plan.disabledBecause = "colocation is not enabled for this node (" + plan.strategy.from + ")";
  plan.enabled = plan.disabledBecause.empty();
}

void planNormalization(NodePlan& plan, const PlanInputs& in) {
  const auto& own = in.node.meta.annotations;
  if (const auto now = api::parseCpuNormalizationRatio(own); now && *now)
    plan.normalization = **now;
  if (!in.options.cpuNormalization || !plan.enabled) return;
  const auto cpu = in.topology ? api::parseCpuBasicInfo(in.topology->meta.annotations)
                               : Result<std::optional<api::CpuBasicInfo>>(std::nullopt);
  const auto ratio = normalizationRatio(in.config.normalization, in.node.meta.labels, cpu);
  if (!ratio) return complain(plan, "CPUNormalization", ratio.error());
  plan.normalization = *ratio;
  plan.wish.annotations[std::string(annotation::kCpuNormalizationRatio)] =
      api::formatCpuNormalizationRatio(*ratio);
}

// An error keeps what the node has; only a configuration that says "off" removes it.
void planAmplification(NodePlan& plan, const PlanInputs& in) {
  if (!in.options.resourceAmplification) return;
  const auto ratios =
      amplificationRatios(in.config.amplification, in.node.meta.labels, plan.normalization);
  if (!ratios) return complain(plan, "ResourceAmplification", ratios.error());
  auto& wish = plan.wish.annotations[std::string(annotation::kResourceAmplificationRatio)];
  if (*ratios) wish = api::formatAmplificationRatios(**ratios);
}

void planMid(NodePlan& plan, const PlanInputs& in, const NodeInputs& inputs) {
  if (!in.options.midResource) return;
  const auto& names = api::resourceNames();
  if (plan.enabled) plan.mid = midResource(inputs);
  if (!plan.enabled || plan.mid.reset) {
    plan.wish.removeResource(names.midCpu);
    plan.wish.removeResource(names.midMemory);
    return;
  }
  const double factor = in.window ? in.window->factor : 1;
  const auto scaled = [&](int64_t amount) {
    return factor == 1 ? amount : static_cast<int64_t>(static_cast<double>(amount) * factor);
  };
  plan.midSold = {scaled(plan.mid.milliCpu), scaled(plan.mid.memoryBytes)};
  plan.wish.setResource(names.midCpu, Quantity::of(plan.midSold.milliCpu));
  plan.wish.setResource(names.midMemory, Quantity::of(Bytes{plan.midSold.memoryBytes}));
}

// Who takes over goes on from what stands on the node, or a rise that was held would come at once.
SteadyState continued(const SteadyState& kept, const std::optional<Sold>& standing,
                      int64_t Sold::*part) {
  SteadyState out = kept;
  if (!out.published && standing) out.published = *standing.*part;
  return out;
}

void keepSteady(NodePlan& plan, const PlanInputs& in) {
  const auto& policy = plan.strategy.strategy.steadyReclaim;
  if (!policy || !policy->enable.value_or(false)) return;
  const auto& capacity = plan.batch.terms.capacity;
  const bool isNew = !in.memory.steadyCpu.published || !in.memory.steadyMemory.published;
  const auto standing = isNew ? standingLedger(in.node) : std::nullopt;
  const auto cpu = steadyStep(continued(in.memory.steadyCpu, standing, &Sold::milliCpu),
                              plan.ledger.milliCpu, capacity.cpu.milliValue(), in.now, *policy);
  const auto memory = steadyStep(continued(in.memory.steadyMemory, standing, &Sold::memoryBytes),
                                 plan.ledger.memoryBytes, capacity.memory.value(), in.now, *policy);
  plan.ledger = {cpu.value, memory.value};
  plan.memory = {cpu.state, memory.state};
  for (const auto& again : {cpu.lookAgain, memory.lookAgain})
    if (again) plan.lookAgain = std::min(*again, plan.lookAgain.value_or(Duration::max()));
}

// A node that had to evict takes no new best-effort work for a while: it sells what is placed
// already and no more, so that services come as before and nothing new fits.
void holdWhilePaused(NodePlan& plan, const PlanInputs& in) {
  if (!api::isPaused(in.node)) return;
  Sold placed;
  for (const auto& view : plan.placed) {
    placed.milliCpu += view.milliCpu;
    placed.memoryBytes += view.memoryBytes;
  }
  // Pods hold normalised units.
  const double ratio = std::max(plan.normalization.value_or(1), 1.0);
  const auto cpu = static_cast<int64_t>(static_cast<double>(placed.milliCpu) / ratio);
  plan.ledger.milliCpu = std::min(plan.ledger.milliCpu, cpu);
  plan.ledger.memoryBytes = std::min(plan.ledger.memoryBytes, placed.memoryBytes);
}

// Views that we wrote are taken away; those that are on are set again after.
void removeViews(NodePlan& plan, std::string_view written) {
  for (auto name : split(written, ','))
    for (const auto& view : aliasViews())
      if (view.name == name) {
        plan.wish.removeResource(Interned(view.cpuName));
        plan.wish.removeResource(Interned(view.memoryName));
      }
}

// Views of the ledger under other names. When they are switched off, the note stays for as long as
// something is placed through them: it is not sold a second time meanwhile.
void planViews(NodePlan& plan, const PlanInputs& in) {
  const auto& on = plan.strategy.strategy.aliasViews;
  const auto written = in.node.meta.annotations.get(kWrittenViews);
  if (on.empty() && !written) return;
  const auto& names = api::resourceNames();
  const auto* cpu = plan.wish.resource(names.batchCpu);
  const auto* memory = plan.wish.resource(names.batchMemory);
  const bool selling = plan.enabled && cpu && *cpu && memory && *memory;
  removeViews(plan, written.value_or(""));
  auto& note = plan.wish.annotations[std::string(kWrittenViews)];
  const bool stays = isPlacedElsewhere(plan.placed);
  if (stays) note = "";
  if (!selling || (on.empty() && !stays)) return;
  plan.views = aliasReports({(*cpu)->value(), (*memory)->value()}, plan.placed, on);
  std::vector<std::string_view> kept;
  for (const auto& report : plan.views) {
    plan.wish.setResource(Interned(report.view->cpuName), Quantity::of(report.cpu));
    plan.wish.setResource(Interned(report.view->memoryName),
                          Quantity::of(Bytes{report.memoryBytes}));
    if (report.view != &canonicalView()) kept.push_back(report.view->name);
  }
  note = join(kept, ",");
}

bool everSold(const api::Node& node) {
  const auto& names = api::resourceNames();
  return node.status.allocatable.find(names.batchCpu) ||
         node.status.allocatable.find(names.batchMemory) ||
         node.status.capacity.find(names.batchCpu) ||
         node.meta.annotations.has(annotation::kOriginExtendedAllocatable);
}

// Zones of a node that sells nothing show nothing either.
void emptyZones(NodePlan& plan, const PlanInputs& in) {
  if (in.topology == nullptr) return;
  for (const auto& zone : in.topology->zones)
    if (zone.find(api::resource::kBatchCpu) || zone.find(api::resource::kBatchMemory))
      plan.zones.push_back({zone.name, 0, Quantity()});
}

void resetBatch(NodePlan& plan, const PlanInputs& in) {
  emptyZones(plan, in);
  if (everSold(in.node)) (void)prepareBatch(in.node, BatchItem{true, 0, 0, {}}, plan.wish);
}

void planBatch(NodePlan& plan, const PlanInputs& in, const NodeInputs& inputs) {
  if (!in.options.batchResource) return;
  if (plan.enabled) plan.batch = batchResource(inputs);
  if (!plan.enabled || plan.batch.reset) return resetBatch(plan, in);
  plan.formula = {plan.batch.milliCpu, plan.batch.memoryBytes};
  plan.ledger = plan.formula;
  plan.byClock = in.window.has_value();
  if (plan.byClock)
    plan.ledger = {in.window->allowed.cpu.milliValue(), in.window->allowed.memory.value()};
  keepSteady(plan, in);
  holdWhilePaused(plan, in);
  const BatchItem item{false, plan.ledger.milliCpu, plan.ledger.memoryBytes, plan.normalization};
  if (auto ok = prepareBatch(in.node, item, plan.wish); !ok)
    complain(plan, "BatchResource", ok.error());
  plan.zones = zoneAmounts(plan.batch, plan.ledger);
}

// The moment at which the metric is too old.
void watchAge(NodePlan& plan, const PlanInputs& in) {
  if (!plan.enabled || in.metric == nullptr || in.metric->updateTime == kZeroTime) return;
  const auto limit = std::chrono::minutes(plan.strategy.strategy.degradeTimeMinutes.value_or(15));
  const auto left = in.metric->updateTime + limit - in.now;
  if (left < Duration::zero()) return;
  const Duration again = left + std::chrono::milliseconds(1);
  plan.lookAgain = std::min(again, plan.lookAgain.value_or(Duration::max()));
}

}  // namespace

Placed placedBy(std::span<const PodFacts* const> pods) {
  Placed out{};
  for (const PodFacts* pod : pods) {
    if (!pod->counts || !pod->sold) continue;
    for (size_t i = 0; i < out.size(); i++) {
      const CpuMemory& amount = pod->sold->amounts[i];
      out[i].milliCpu = (MilliCpu{out[i].milliCpu} + amount.cpu.milliCpu()).v;
      out[i].memoryBytes = (Bytes{out[i].memoryBytes} + amount.memory.bytes()).v;
    }
  }
  return out;
}

static std::vector<const PodFacts*> whoAsks(const PlanInputs& in, const Colocation& strategy) {
  std::vector<const PodFacts*> out(in.pods.begin(), in.pods.end());
  if (strategy.countReservations.value_or(false))
    out.insert(out.end(), in.rooms.begin(), in.rooms.end());
  return out;
}

NodePlan planNode(const PlanInputs& in) {
  NodePlan plan;
  judgeEnabled(plan, in);
  const auto asking = whoAsks(in, plan.strategy.strategy);
  const NodeInputs inputs{in.node, asking, in.metric, in.topology, plan.strategy.strategy, in.now};
  plan.placed = placedBy(in.pods);
  planNormalization(plan, in);
  planAmplification(plan, in);
  planMid(plan, in, inputs);
  planBatch(plan, in, inputs);
  planViews(plan, in);
  addDeviceResources(in.device,
                     {in.options.gpuShared, in.options.gpuDeviceResource,
                      in.options.rdmaDeviceResource, api::isRunByUs(in.node)},
                     plan.wish);
  watchAge(plan, in);
  return plan;
}

}  // namespace mangrove::manager
