#include "agent/report/sale.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "api/annotations/node.h"
#include "api/annotations/node_kept.h"
#include "api/pod/classes.h"
#include "api/wire/names.h"

namespace mangrove::agent {
namespace {

using api::PriorityBand;
using SaleAmounts = Sale::Amounts;

// Nobody asks for less: amounts that are nearly nothing may move without a word.
constexpr int64_t kLeastCpu = 20, kLeastMemory = int64_t{16} << 20;
constexpr int32_t kBatchDefaultPriority = 5500;

struct Use {
  int64_t cpu = 0, memory = 0;
  void add(const api::ResourceList& list) { cpu += list.cpu().v, memory += list.memory().v; }
};

bool isSold(std::string_view band) {
  const PriorityBand parsed = api::parseBand(band);
  return parsed == PriorityBand::kBatch || parsed == PriorityBand::kFree;
}

Use ofPods(const api::NodeMetricStatus& status) {
  Use out;
  for (const api::PodMetric& pod : status.podsMetric) {
    if (isSold(pod.priority.view())) continue;
    const int64_t before = out.cpu;
    out.add(pod.podUsage.resources);
    // Its CPUs are its own: what it asked for counts, whatever it uses.
    if (api::parseQos(pod.qos.view()) == api::Qos::kLse) out.cpu = before;
  }
  return out;
}

Use ofSystem(const api::NodeMetricStatus& status) {
  Use out;
  if (status.nodeMetric) out.add(status.nodeMetric->systemUsage.resources);
  for (const api::HostApplicationMetric& app : status.hostApplicationMetric)
    if (api::rangeOf(api::parseBand(app.priority.view())).defaultValue > kBatchDefaultPriority)
      out.add(app.usage.resources);
  return out;
}

Use reclaimable(const api::NodeMetricStatus& status, const SaleAmounts& capacity) {
  Use all, used;
  if (status.prodReclaimableMetric) all.add(status.prodReclaimableMetric->resource.resources);
  if (status.nodeMetric) used.add(status.nodeMetric->nodeUsage.resources);
  return {std::clamp<int64_t>(capacity[0] - used.cpu, 0, all.cpu),
          std::clamp<int64_t>(capacity[1] - used.memory, 0, all.memory)};
}

// As on the Node before it was stretched for faster CPUs; cores for sale are said in thousandths.
std::optional<int64_t> amountOf(const api::Node& node, Interned name, double ratio) {
  const Quantity* found = node.status.allocatable.find(name);
  if (found == nullptr) return std::nullopt;
  return static_cast<int64_t>(std::llround(static_cast<double>(found->value()) / ratio));
}

double stretchOf(const api::Node& node) {
  const auto ratio = api::parseCpuNormalizationRatio(node.meta.annotations);
  return ratio && *ratio ? std::max(1.0, **ratio) : 1.0;
}

}  // namespace

Sale::Amounts Sale::reported(const api::NodeMetricStatus& status) const {
  const Use pods = ofPods(status), system = ofSystem(status);
  const Use mid = reclaimable(status, node_.capacity);
  return {-pods.cpu - std::max(system.cpu, node_.kept[0]),
          -pods.memory - std::max(system.memory, node_.kept[1]), mid.cpu, mid.memory};
}

Sale::Amounts Sale::amountsBy(const api::NodeMetricStatus& status) const {
  Amounts out = reported(status);
  for (size_t i = 0; i < kNames; ++i) out[i] = std::max<int64_t>(0, out[i] + fixed_[i]);
  return out;
}

void Sale::onNode(const api::Node* node, const api::NodeMetricStatus& known, MonoTime now) {
  const auto& names = api::resourceNames();
  const double ratio = node ? stretchOf(*node) : 1;
  Stand seen;
  if (node)
    seen = {amountOf(*node, names.batchCpu, ratio), amountOf(*node, names.batchMemory, 1),
            amountOf(*node, names.midCpu, ratio), amountOf(*node, names.midMemory, 1)};
  isOpen_ = std::any_of(seen.begin(), seen.end(), [](const auto& one) { return one.has_value(); });
  if (!isOpen_ || seen == stand_) return void(stand_ = seen);
  const api::NodeKept kept = api::keptOf(*node);
  node_.capacity = {node->status.capacity.cpu().v, node->status.capacity.memory().v};
  node_.kept = {std::max(kept.kubeletCpu.milliValue(), kept.annotated.cpu().v),
                std::max(kept.kubeletMemory.value(), kept.annotated.memory().v)};
  stand_ = seen;
  // After a start what the manager sold by may not be known yet: then by our first report.
  isFixed_ = known.updateTime != kZeroTime;
  if (isFixed_) fix(known, now);
}

void Sale::fix(const api::NodeMetricStatus& by, MonoTime now) {
  wroteAt_ = now;
  const Amounts added = reported(by);
  for (size_t i = 0; i < kNames; ++i) {
    base_[i] = stand_[i].value_or(0);
    fixed_[i] = base_[i] - added[i];
  }
}

bool Sale::differ(const Amounts& now, double share) const {
  // From nothing: the formula may be far below, so a hundredth of the node has to come free first.
  constexpr int64_t kOfNode = 100;
  for (size_t i = 0; i < kNames; ++i) {
    if (!stand_[i]) continue;
    const bool isCpu = i % 2 == 0;
    const auto own = static_cast<int64_t>(static_cast<double>(base_[i]) * share);
    const int64_t least =
        base_[i] > 0 ? (isCpu ? kLeastCpu : kLeastMemory) : node_.capacity[isCpu ? 0 : 1] / kOfNode;
    if (std::abs(now[i] - base_[i]) > std::max(own, least)) return true;
  }
  return false;
}

bool Sale::moves(const api::NodeMetricStatus& now, MonoTime at, api::SaleRule rule) const {
  if (!isOpen_) return false;
  return !isFixed_ || at - wroteAt_ > rule.wait ||
         differ(amountsBy(now), std::max(rule.share, kLeastShare));
}

void Sale::told(const api::NodeMetricStatus& status, MonoTime at, api::SaleRule rule) {
  if (isOpen_ && !std::exchange(isFixed_, true)) return fix(status, at);
  if (!moves(status, at, rule)) return;
  base_ = amountsBy(status);
  wroteAt_ = at;
}

}  // namespace mangrove::agent
