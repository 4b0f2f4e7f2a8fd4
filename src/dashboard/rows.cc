#include "dashboard/rows.h"

#include <algorithm>

#include "api/annotations/cpu.h"
#include "api/annotations/gang.h"
#include "api/annotations/reservation.h"
#include "api/pod/classes.h"
#include "api/pod/pod_requests.h"
#include "api/wire/names.h"

namespace mangrove::dashboard {
namespace {

using ByClass = std::array<double, kClasses.size()>;
constexpr size_t kOther = kClasses.size() - 1;

size_t classIndex(api::Qos qos) {
  const auto name = qos == api::Qos::kNone ? std::string_view("LS") : api::qosName(qos);
  const auto at = std::find(kClasses.begin(), kClasses.end(), name);
  return at == kClasses.end() ? kOther : static_cast<size_t>(at - kClasses.begin());
}

json::Object classesJson(const ByClass& values) {
  json::Object out;
  for (size_t i = 0; i < values.size(); i++)
    if (values[i] > 0) out.emplace(kClasses[i], values[i]);
  return out;
}

double coresOf(const api::ResourceList& list) {
  const Quantity* cpu = list.find(api::resource::kCpu);
  return cpu == nullptr ? 0 : static_cast<double>(cpu->scaled(-6)) / 1e6;
}
double bytesOf(const api::ResourceList& list) {
  return static_cast<double>(list.memory().v);
}
template <class T>
json::Value orNull(const std::optional<T>& value) {
  return value ? json::Value(*value) : json::Value(nullptr);
}
int64_t millis(WallTime at) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(at.time_since_epoch()).count();
}

// What the pods of a report use, by class; what no pod uses is the last one's.
struct Used {
  std::optional<double> cpu, memory;
  ByClass cpuBy{}, memoryBy{};
};

Used usedOf(const api::NodeMetricStatus& status) {
  Used used;
  if (!status.nodeMetric) return used;
  used.cpu = coresOf(status.nodeMetric->nodeUsage.resources);
  used.memory = bytesOf(status.nodeMetric->nodeUsage.resources);
  double cpu = 0, memory = 0;
  for (const auto& pod : status.podsMetric) {
    const size_t index = classIndex(api::parseQos(pod.qos.view()));
    cpu += coresOf(pod.podUsage.resources);
    memory += bytesOf(pod.podUsage.resources);
    used.cpuBy[index] += coresOf(pod.podUsage.resources);
    used.memoryBy[index] += bytesOf(pod.podUsage.resources);
  }
  used.cpuBy[kOther] += std::max(0.0, *used.cpu - cpu);
  used.memoryBy[kOther] += std::max(0.0, *used.memory - memory);
  return used;
}

// Batch CPU is counted in thousandths of a core under a name of its own, memory in bytes.
struct Batch {
  double cpu = 0, memory = 0;
};
Batch batchOf(const api::ResourceList& list) {
  return {static_cast<double>(list.amount(api::resource::kBatchCpu).value()) / 1000,
          static_cast<double>(list.amount(api::resource::kBatchMemory).value())};
}

// What reservations of a node keep and nobody has taken.
struct Reserved {
  int64_t count = 0;
  double cpu = 0, memory = 0;
  Batch batch;
};
struct Asked {
  Batch batch;
  int64_t pods = 0;
  Reserved reserved;
};

// Owners by the uid of what they are in, as the books count them: on the same node.
using Owners = std::map<std::string, std::vector<const api::Pod*>>;
Owners ownersOf(const ClusterView& view) {
  Owners out;
  for (const auto& pod : view.pods) {
    if (pod->nodeName.empty() || api::isTerminated(*pod)) continue;
    const auto entered = api::parseReservationAllocated(pod->meta.annotations);
    if (entered && *entered) out[(*entered)->uid].push_back(pod.get());
  }
  return out;
}

double left(double reserved, double taken) {
  return std::max(0.0, reserved - taken);
}

void addReserved(const api::Reservation& one, const Owners& owners, Reserved& out) {
  const auto mine = owners.find(one.meta.uid.str());
  if (mine != owners.end() && one.spec.isAllocateOnce()) return;  // it is over with its owner
  double cpu = 0, memory = 0;
  Batch batch;
  if (mine != owners.end())
    for (const api::Pod* pod : mine->second) {
      if (pod->nodeName.view() != one.status.nodeName) continue;
      const auto asked = api::podRequests(*pod->spec);
      const Batch its = batchOf(asked);
      cpu += coresOf(asked);
      memory += bytesOf(asked);
      batch.cpu += its.cpu;
      batch.memory += its.memory;
    }
  const Batch kept = batchOf(one.status.allocatable);
  out.count++;
  out.cpu += left(coresOf(one.status.allocatable), cpu);
  out.memory += left(bytesOf(one.status.allocatable), memory);
  out.batch.cpu += left(kept.cpu, batch.cpu);
  out.batch.memory += left(kept.memory, batch.memory);
}

json::Object reservedJson(const Reserved& reserved) {
  return {{"count", reserved.count},
          {"cpu", reserved.cpu},
          {"memory", reserved.memory},
          {"batchCpu", reserved.batch.cpu},
          {"batchMemory", reserved.batch.memory}};
}

json::Object nodeRow(const api::Node& node, const api::NodeMetric* metric, const Asked& asked) {
  const Used used = metric ? usedOf(metric->status) : Used{};
  const Batch sold = batchOf(node.status.allocatable);
  const bool measured = metric && metric->status.updateTime != kZeroTime;
  json::Object out{
      {"name", node.meta.name.view()},
      {"ready", node.isReady()},
      {"unschedulable", node.spec.unschedulable},
      {"cpu", json::Object{{"capacity", coresOf(node.status.capacity)},
                           {"used", orNull(used.cpu)},
                           {"classes", classesJson(used.cpuBy)}}},
      {"memory", json::Object{{"capacity", bytesOf(node.status.capacity)},
                              {"used", orNull(used.memory)},
                              {"classes", classesJson(used.memoryBy)}}},
      {"batchCpu", json::Object{{"total", sold.cpu}, {"asked", asked.batch.cpu}}},
      {"batchMemory", json::Object{{"total", sold.memory}, {"asked", asked.batch.memory}}},
      {"measured", measured ? json::Value(millis(metric->status.updateTime)) : nullptr},
      {"pods", asked.pods}};
  if (asked.reserved.count > 0) out["reserved"] = reservedJson(asked.reserved);
  return out;
}

// Why a pod is not running, in as few words as it says itself.
std::string whyNot(const api::Pod& pod) {
  for (const auto& container : pod.status.containers)
    if (!container.isRunning() && !container.state.reason.view().empty())
      return std::string(container.state.reason.view());
  if (pod.status.phase == api::PodPhase::kPending)
    if (const auto* placed = api::findCondition(pod.status.conditions, "PodScheduled");
        placed && placed->status == api::Truth::kFalse)
      return std::string(placed->message.view());
  return std::string(pod.status.reason.view());
}

// Cores or bytes under the ordinary name or the batch or mid one, whichever the pod uses.
std::optional<double> amountIn(const api::ResourceList& list, std::string_view plain,
                               std::initializer_list<std::string_view> colocated, double unit) {
  for (auto name : colocated)
    if (const Quantity* amount = list.find(name))
      return static_cast<double>(amount->value()) / unit;
  if (const Quantity* amount = list.find(plain))
    return static_cast<double>(amount->scaled(-3)) / 1000;
  return std::nullopt;
}
std::optional<double> cpuIn(const api::ResourceList& list) {
  return amountIn(list, api::resource::kCpu, {api::resource::kBatchCpu, api::resource::kMidCpu},
                  1000);
}
std::optional<double> memoryIn(const api::ResourceList& list) {
  return amountIn(list, api::resource::kMemory,
                  {api::resource::kBatchMemory, api::resource::kMidMemory}, 1);
}

// The agent of this process knows best, else the last report.
LiveUse useOf(const std::string& key, const api::Pod& pod, const ClusterView& view,
              const LiveNode* live) {
  if (live && live->node == pod.nodeName.view())
    if (auto it = live->pods.find(key); it != live->pods.end()) return it->second;
  const auto metric = view.metrics.find(pod.nodeName.view());
  if (metric == view.metrics.end()) return {};
  for (const auto& entry : metric->second->status.podsMetric)
    if (entry.name.view() == pod.meta.name.view() && entry.ns == pod.meta.ns)
      return {coresOf(entry.podUsage.resources), entry.podUsage.resources.memory(),
              api::yarnOf(entry)};
  return {};
}

std::string cpusetOf(const api::Pod& pod) {
  const auto status = api::parseResourceStatus(pod.meta.annotations);
  return status && *status ? (*status)->cpuset : "";
}

json::Object podRow(const std::string& key, const api::Pod& pod, const LiveUse& use,
                    const LiveNode* live) {
  const api::Qos qos = api::qosWithDefault(pod);
  const auto requests = api::podRequests(*pod.spec);
  const auto limits = api::podLimits(*pod.spec);
  auto cpuLimit = cpuIn(limits);
  // All best-effort pods together stay below the budget, so each of them does.
  if (qos == api::Qos::kBe && live && live->budget && live->node == pod.nodeName.view())
    cpuLimit = std::min(cpuLimit.value_or(*live->budget), *live->budget);
  std::optional<double> memory;
  if (use.memory) memory = static_cast<double>(use.memory->v);
  json::Object out{{"key", key},
                   {"node", pod.nodeName.view()},
                   {"qos", api::qosName(qos)},
                   {"band", api::bandName(api::bandWithDefault(pod))},
                   {"phase", api::podPhaseName(pod.status.phase)},
                   {"why", whyNot(pod)},
                   {"gang", api::gangNameOf(pod.meta.labels, pod.meta.annotations)},
                   {"cpuset", cpusetOf(pod)},
                   {"cpu", json::Object{{"used", orNull(use.cpu)},
                                        {"request", orNull(cpuIn(requests))},
                                        {"limit", orNull(cpuLimit)}}},
                   {"memory", json::Object{{"used", orNull(memory)},
                                           {"request", orNull(memoryIn(requests))},
                                           {"limit", orNull(memoryIn(limits))}}}};
  if (!use.yarn.empty()) out["yarn"] = api::yarnJson(use.yarn);
  return out;
}

std::optional<double> someOf(const std::optional<kernel::Pressure>& pressure) {
  if (!pressure) return std::nullopt;
  return pressure->some.avg10 / 100;
}

api::Qos qosOf(const agent::PodLook& pod) {
  return pod.qos == api::Qos::kNone && pod.pod ? api::qosWithDefault(*pod.pod) : pod.qos;
}

}  // namespace

json::Array nodeRows(const ClusterView& view) {
  std::map<std::string_view, Asked> asked;
  for (const auto& pod : view.pods) {
    if (pod->nodeName.view().empty() || api::isTerminated(*pod)) continue;
    Asked& sum = asked[pod->nodeName.view()];
    const Batch batch = batchOf(api::podRequests(*pod->spec));
    sum.batch.cpu += batch.cpu;
    sum.batch.memory += batch.memory;
    sum.pods++;
  }
  const Owners owners = view.reservations.empty() ? Owners() : ownersOf(view);
  for (const auto& one : view.reservations)
    if (one->status.phase == api::reservation_phase::kAvailable && !one->status.nodeName.empty())
      addReserved(*one, owners, asked[one->status.nodeName].reserved);
  json::Array rows;
  for (const auto& node : view.nodes) {
    const auto metric = view.metrics.find(node->meta.name.view());
    rows.push_back(nodeRow(*node, metric == view.metrics.end() ? nullptr : metric->second.get(),
                           asked[node->meta.name.view()]));
  }
  return rows;
}

json::Array podRows(const ClusterView& view, std::string_view node, const LiveNode* live) {
  json::Array rows;
  for (const auto& pod : view.pods) {
    if (!node.empty() && pod->nodeName.view() != node) continue;
    const std::string key = api::keyOf(pod->meta).text();
    rows.push_back(podRow(key, *pod, useOf(key, *pod, view, live), live));
  }
  return rows;
}

json::Object tickOf(const agent::Look& look) {
  ByClass cpu{}, memory{};
  double podCpu = 0, podMemory = 0;
  for (const auto& pod : look.pods) {
    const size_t index = classIndex(qosOf(pod));
    const double bytes = pod.usage.memory ? static_cast<double>(pod.usage.memory->v) : 0;
    cpu[index] += pod.usage.cpu.value_or(0);
    memory[index] += bytes;
    podCpu += pod.usage.cpu.value_or(0);
    podMemory += bytes;
  }
  cpu[kOther] = std::max(0.0, look.node.usage.cpu.value_or(0) - podCpu);
  if (look.node.usage.memory)
    memory[kOther] = std::max(0.0, static_cast<double>(look.node.usage.memory->v) - podMemory);
  const auto& limit = look.node.bestEffort.limit;
  return {{"t", millis(look.wall)},
          {"cpus", look.machine ? static_cast<int64_t>(look.machine->cpus().cpus.size()) : 0},
          {"used", orNull(look.node.usage.cpu)},
          {"cpu", classesJson(cpu)},
          {"memory", classesJson(memory)},
          {"memoryTotal", look.node.memoryTotal.v},
          {"budget", limit ? json::Value(static_cast<double>(limit->v) / 1000) : nullptr},
          {"psi", json::Object{{"cpu", orNull(someOf(look.node.pressure.cpu))},
                               {"memory", orNull(someOf(look.node.pressure.memory))},
                               {"io", orNull(someOf(look.node.pressure.io))}}}};
}

LiveNode liveNodeOf(const agent::Look& look, std::string node) {
  LiveNode live{.node = std::move(node), .budget = {}, .pods = {}};
  if (look.node.bestEffort.limit)
    live.budget = static_cast<double>(look.node.bestEffort.limit->v) / 1000;
  for (const auto& pod : look.pods)
    if (pod.pod)
      live.pods[api::keyOf(pod.pod->meta).text()] = {
          pod.usage.cpu, pod.usage.memory, {pod.yarn.begin(), pod.yarn.end()}};
  return live;
}

}  // namespace mangrove::dashboard
