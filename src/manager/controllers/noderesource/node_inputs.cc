#include "manager/controllers/noderesource/node_inputs.h"

#include <algorithm>

#include <fmt/core.h>

#include "api/annotations/cpu.h"
#include "api/annotations/node_kept.h"
#include "api/pod/pod_requests.h"
#include "api/wire/names.h"
#include "base/number/fnv.h"
#include "base/text/time_text.h"
#include "manager/controllers/noderesource/alias_views.h"
#include "manager/pod_annotations.h"

namespace mangrove::manager {
namespace {

Quantity milliCores(const Quantity& plainInteger) {
  return Quantity::ofMilli(plainInteger.value());
}

// mid-cpu counts as cpu, mid-memory as memory.
void addMid(api::ResourceList& list) {
  const auto& names = api::resourceNames();
  if (const Quantity* cpu = list.find(names.midCpu)) {
    const Quantity sum = list.amount(api::resource::kCpu) + milliCores(*cpu);
    list.set(names.cpu, sum);
  }
  if (const Quantity* memory = list.find(names.midMemory)) {
    const Quantity sum = list.amount(api::resource::kMemory) + *memory;
    list.set(names.memory, sum);
  }
}

api::ResourceList requestsWithMid(const api::PodSpec& spec) {
  api::PodSpec copy = spec;
  for (auto& container : copy.containers) addMid(container.requests);
  for (auto& container : copy.initContainers) addMid(container.requests);
  addMid(copy.overhead);
  return api::podRequests(copy);
}

std::vector<int32_t> pinnedTo(const api::Annotations& annotations) {
  std::vector<int32_t> out;
  if (!annotations.has(api::annotation::kResourceStatus)) return out;
  const auto status = api::parseResourceStatus(annotations);
  if (!status || !*status) return out;
  for (const auto& numa : (*status)->numaNodeResources) out.push_back(numa.node);
  return out;
}

CpuMemory viewRequest(const api::ResourceList& requests, const AliasView& view) {
  const Quantity cpu = requests.amount(view.cpuName);
  return {Quantity::ofMilli(cpu.value() * view.milliPerUnit), requests.amount(view.memoryName)};
}

// What cannot be read counts as not said: the pod runs already.
std::optional<Duration> durationIn(const api::Annotations& annotations, std::string_view key) {
  const auto text = annotations.get(key);
  const auto parsed = text ? parseDuration(*text) : Result<Duration>(invalid("absent"));
  return parsed ? std::optional(*parsed) : std::nullopt;
}

WallTime timeIn(const api::Annotations& annotations, std::string_view key) {
  const auto text = annotations.get(key);
  return text ? parseTime(*text).value_or(kZeroTime) : kZeroTime;
}

std::shared_ptr<const PodSold> soldTo(const api::Pod& pod, const api::ResourceList& requests) {
  PodSold out;
  out.amounts[0] = viewRequest(requests, canonicalView());
  for (size_t i = 0; i < aliasViews().size(); i++)
    out.amounts[i + 1] = viewRequest(requests, aliasViews()[i]);
  const bool any = std::any_of(out.amounts.begin(), out.amounts.end(), [](const CpuMemory& amount) {
    return !amount.cpu.isZero() || !amount.memory.isZero();
  });
  if (!any) return nullptr;
  out.priority = pod.spec->priority.value_or(0);
  out.started = pod.status.startTime;
  out.expected = durationIn(pod.meta.annotations, kExpectedDuration);
  out.notice = durationIn(pod.meta.annotations, kDrainNotice).value_or(Duration{});
  out.drainAt = timeIn(pod.meta.annotations, kDrainAt);
  return std::make_shared<const PodSold>(std::move(out));
}

}  // namespace

uint64_t podKey(std::string_view ns, std::string_view name) {
  return fnv1a(name, fnv1a("/", fnv1a(ns)));
}

bool PodFacts::operator==(const PodFacts& other) const {
  const bool sameSold = (sold && other.sold) ? *sold == *other.sold : sold == other.sold;
  return key == other.key && band == other.band && qos == other.qos && counts == other.counts &&
         isRoom == other.isRoom && request == other.request && sameSold &&
         numaNodes == other.numaNodes;
}

PodFacts podFacts(const api::Pod& pod) {
  PodFacts out;
  out.key = podKey(pod.meta.ns.view(), pod.meta.name.view());
  out.band = api::bandWithDefault(pod);
  out.qos = api::qosWithDefault(pod);
  out.counts =
      pod.status.phase == api::PodPhase::kRunning || pod.status.phase == api::PodPhase::kPending;
  if (!out.counts) return out;
  const bool isMid = out.band == api::PriorityBand::kMid;
  const auto requests = isMid ? requestsWithMid(*pod.spec) : api::podRequests(pod);
  out.request = cpuMemoryOf(requests);
  out.sold = soldTo(pod, requests);
  out.numaNodes = pinnedTo(pod.meta.annotations);
  return out;
}

PodFacts roomFacts(const api::Reservation& reservation) {
  api::Pod pod;  // as the scheduler sees it: the template with the labels of the reservation
  pod.meta.labels = reservation.meta.labels;
  pod.spec = reservation.spec.podTemplate.spec;
  PodFacts out;
  out.key = podKey("reservation", reservation.meta.name.view());
  out.band = api::bandWithDefault(pod);
  out.qos = api::qosWithDefault(pod);
  out.isRoom = true;
  out.counts = reservation.status.phase == api::reservation_phase::kAvailable;
  out.request = notNegative(cpuMemoryOf(reservation.status.allocatable) -
                            cpuMemoryOf(reservation.status.allocated));
  out.numaNodes = pinnedTo(reservation.meta.annotations);
  return out;
}

const PodUsage* MetricFacts::find(uint64_t pod) const {
  const auto at = std::lower_bound(pods.begin(), pods.end(), pod,
                                   [](const PodUsage& a, uint64_t key) { return a.key < key; });
  return at != pods.end() && at->key == pod ? &*at : nullptr;
}

// A report that leaves a node or a resource out is not used: zones are then given equal shares.
static std::vector<CpuMemory> numaSystemOf(const api::NodeUsageReport& report) {
  std::vector<CpuMemory> out(report.numaUsages.size());
  std::vector<bool> met(out.size());
  for (const auto& numa : report.numaUsages) {
    const auto id = static_cast<size_t>(numa.numaNodeId);
    const auto& usage = numa.systemUsage.resources;
    const bool whole = usage.has(api::resource::kCpu) && usage.has(api::resource::kMemory);
    if (numa.numaNodeId < 0 || id >= out.size() || met[id] || !whole) return {};
    out[id] = cpuMemoryOf(usage);
    met[id] = true;
  }
  return out;
}

MetricFacts metricFacts(const api::NodeMetricStatus& status) {
  MetricFacts out;
  out.updateTime = status.updateTime;
  out.hasNodeMetric = status.nodeMetric.has_value();
  if (status.nodeMetric) {
    const auto& usage = status.nodeMetric->nodeUsage.resources;
    out.hasNodeUsage = usage.has(api::resource::kCpu) && usage.has(api::resource::kMemory);
    out.nodeUsage = cpuMemoryOf(usage);
    out.systemUsage = cpuMemoryOf(status.nodeMetric->systemUsage.resources);
    out.numaSystem = numaSystemOf(*status.nodeMetric);
  }
  if (status.prodReclaimableMetric)
    out.prodReclaimable = cpuMemoryOf(status.prodReclaimableMetric->resource.resources);
  out.pods.reserve(status.podsMetric.size());
  for (const auto& pod : status.podsMetric)
    out.pods.push_back({podKey(pod.ns.view(), pod.name.view()), api::parseBand(pod.priority.view()),
                        cpuMemoryOf(pod.podUsage.resources)});
  std::stable_sort(out.pods.begin(), out.pods.end(),
                   [](const PodUsage& a, const PodUsage& b) { return a.key < b.key; });
  for (const auto& app : status.hostApplicationMetric)
    out.hosts.push_back({api::parseBand(app.priority.view()), cpuMemoryOf(app.usage.resources)});
  return out;
}

std::string degradedBecause(const NodeInputs& in) {
  if (in.metric == nullptr) return "there is no NodeMetric";
  if (in.metric->updateTime == kZeroTime) return "the NodeMetric was never reported";
  const auto limit = std::chrono::minutes(in.strategy.degradeTimeMinutes.value_or(15));
  if (in.now > in.metric->updateTime + limit)
    return fmt::format("the NodeMetric is from {}, older than {} minutes",
                       formatTime(in.metric->updateTime), limit.count());
  if (!in.metric->hasNodeMetric) return "the NodeMetric has no node usage";
  return "";
}

Reservation reservationOf(const api::Node& node) {
  const api::NodeKept kept = api::keptOf(node);
  return {{kept.kubeletCpu, kept.kubeletMemory}, cpuMemoryOf(kept.annotated), kept.ignored};
}

CpuMemory hostUsageAbove(const MetricFacts& metric, int32_t above) {
  CpuMemory out;
  for (const auto& app : metric.hosts)
    if (api::rangeOf(app.band).defaultValue > above) out += app.usage;
  return out;
}

CpuMemory percentOf(const CpuMemory& amount, Percent cpu, Percent memory) {
  return {amount.cpu.mulMilli(static_cast<double>(cpu.v) / 100),
          amount.memory.mul(static_cast<double>(memory.v) / 100)};
}

}  // namespace mangrove::manager
