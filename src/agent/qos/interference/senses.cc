#include "agent/qos/interference/senses.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "api/annotations/eviction.h"
#include "api/interference/policy.h"
#include "api/pod/pod_requests.h"
#include "kernel/cgroup_stat.h"
#include "kernel/control_files.h"
#include "kernel/pressure.h"
#include "kernel/resource_names.h"
#include "stakes/stake.h"

namespace mangrove::agent {
namespace {

using interference::Neighbour;
using interference::Scene;
using interference::Service;
using interference::Stalls;
namespace name = kernel::resource_name;

constexpr std::string_view kFeature = "Interference";
constexpr std::string_view kCpi = "cpi", kQueue = "runq";

double millis(double secondsPerSecond) {
  return secondsPerSecond * 1000;
}

std::optional<kernel::Pressure> pressureOf(const Situation& now, std::string_view cgroup,
                                           std::string_view file) {
  const std::string dir = now.look.machine->trees().pressurePath(cgroup);
  const auto text = now.present.text(fmt::format("{}/{}", dir, file));
  if (!text) return std::nullopt;
  auto parsed = kernel::parsePressure(*text);
  return parsed ? std::optional(*parsed) : std::nullopt;
}

// Of the pod and its containers together: whichever quota held it.
Duration throttledOf(const Situation& now, const PodLook& pod) {
  const Machine& machine = *now.look.machine;
  const auto one = [&](std::string_view cgroup) -> Duration {
    const auto path =
        kernel::filePath(machine.trees(), *kernel::findResource(name::kCpuStat), cgroup);
    const auto text = path ? now.present.text(*path) : std::nullopt;
    const auto parsed = text ? kernel::parseThrottling(*text, machine.trees().version())
                             : Result<kernel::CpuThrottling>(kernel::CpuThrottling{});
    return parsed ? parsed->throttledTime : Duration{};
  };
  Duration sum = one(pod.cgroup);
  for (const ContainerLook& container : pod.containers) sum += one(container.cgroup);
  return sum;
}

std::optional<double> percentOf(Duration before, Duration now, Duration passed) {
  if (passed <= Duration::zero() || now < before) return std::nullopt;
  return std::min(100.0, 100.0 * static_cast<double>((now - before).count()) /
                             static_cast<double>(passed.count()));
}

double cpusOf(const PodLook& pod) {
  const double limit = static_cast<double>(api::podLimits(*pod.pod->spec).cpu().v) / 1000;
  if (limit > 0) return limit;
  return static_cast<double>(api::podRequests(*pod.pod).cpu().v) / 1000;
}

std::string versionOf(const api::Pod& pod) {
  for (const char* label : {"app.kubernetes.io/version", "pod-template-hash"})
    if (const auto said = pod.meta.labels.get(label)) return std::string(*said);
  return "";
}

std::string keyOf(const Situation& now, const PodLook& pod) {
  return api::workloadKey(now.look.machine->cpuBasics().model, stakes::jobOf(*pod.pod),
                          versionOf(*pod.pod), cpusOf(pod));
}

}  // namespace

bool isWatchedService(const PodLook& pod) {
  return pod.pod && pod.tier != kernel::PodTier::kBestEffort && pod.qos != api::Qos::kBe &&
         pod.qos != api::Qos::kSystem && pod.band != api::PriorityBand::kBatch &&
         pod.band != api::PriorityBand::kFree;
}

bool isOffline(const PodLook& pod) {
  return pod.pod && !pod.pod->meta.isDeleting() &&
         (pod.qos == api::Qos::kBe || pod.band == api::PriorityBand::kBatch ||
          pod.band == api::PriorityBand::kFree);
}

void Senses::addStalls(const Situation& now, const PodLook& pod, bool due, Known& known,
                       Service& out) {
  const auto cpu = pressureOf(now, pod.cgroup, name::kCpuPressure);
  const auto memory = pressureOf(now, pod.cgroup, name::kMemoryPressure);
  const auto io = pressureOf(now, pod.cgroup, name::kIoPressure);
  Totals totals{now.look.at,
                cpu ? cpu->some.total : Duration{},
                memory ? memory->some.total : Duration{},
                io ? io->some.total : Duration{},
                {}};
  if (known.tick.at != MonoTime::min()) {
    const Duration passed = now.look.at - known.tick.at;
    if (cpu) out.instant.cpu = percentOf(known.tick.cpu, totals.cpu, passed);
    if (memory) out.instant.memory = percentOf(known.tick.memory, totals.memory, passed);
    if (io) out.instant.io = percentOf(known.tick.io, totals.io, passed);
  }
  known.tick = totals;
  if (!due) return;
  totals.throttled = throttledOf(now, pod);
  Stalls& stalls = out.stalls.emplace();
  if (cpu) stalls.cpu = cpu->some.avg10;
  if (memory) stalls.memorySome = memory->some.avg10;
  if (memory && memory->fullSupported) stalls.memoryFull = memory->full.avg10;
  if (io) stalls.io = io->some.avg10;
  if (pod.runQueue) stalls.queue = millis(*pod.runQueue);
  if (known.period.at != MonoTime::min()) {
    stalls.cpuStalled = totals.cpu - known.period.cpu;
    stalls.throttled = totals.throttled - known.period.throttled;
  }
  const double limit = static_cast<double>(api::podLimits(*pod.pod->spec).memory().v);
  if (limit > 0) stalls.memoryLimit = Bytes{static_cast<int64_t>(limit)};
  stalls.memoryUsed = pod.usage.memoryWithCache;
  known.period = totals;
}

// A window of the counters ended when their sums differ from the last ones.
void Senses::addCounters(const Situation& now, const PodLook& pod, Known& known, Service& out) {
  kernel::PerfCounts sum;
  for (const ContainerLook& container : pod.containers)
    if (container.counts) {
      sum.cycles += container.counts->cycles;
      sum.instructions += container.counts->instructions;
    }
  const bool fresh = sum.instructions > 0 && (sum.cycles != known.counts.cycles ||
                                              sum.instructions != known.counts.instructions);
  if (!fresh) return;
  known.counts = sum;
  const double cores = pod.usage.cpu.value_or(0);
  interference::Counted counted;
  counted.cpi = sum.cycles / sum.instructions;
  const api::Fence fence = book_.fence(keyOf(now, pod), cpusOf(pod), cores * 100, kCpi);
  if (fence.state != api::Fence::State::kCold) counted.fence = fence.value;
  if (counted.fence && counted.cpi > *counted.fence)
    counted.contention = {interference::Resource::kUnknown};
  if (const auto spec = known.spec.spec())
    counted.outliers =
        known.outliers.add(now.look.at, interference::isOutlier(counted.cpi, *spec, cores));
  known.spec.add(counted.cpi, cores);
  out.counted = std::move(counted);
}

// Only while nothing is wrong: what hurts must not become ordinary.
void Senses::learn(const Situation& now, const PodLook& pod, const Service& seen) {
  api::Signals signals;
  if (seen.counted) signals.emplace_back(kCpi, seen.counted->cpi);
  if (seen.stalls && seen.stalls->queue) signals.emplace_back(kQueue, *seen.stalls->queue);
  if (!signals.empty())
    book_.learn(keyOf(now, pod), cpusOf(pod), seen.cores * 100, signals, now.look.wall);
}

Service Senses::serviceOf(const Situation& now, const PodLook& pod, bool due, bool watched) {
  Service out;
  const api::Pod& object = *pod.pod;
  out.uid = object.meta.uid.str();
  out.ns = object.meta.ns.str();
  out.name = object.meta.name.str();
  out.qos = pod.qos;
  out.band = pod.band;
  out.cores = pod.usage.cpu.value_or(0);
  Known& known = known_[out.uid];
  if (due || watched) addStalls(now, pod, due, known, out);
  addCounters(now, pod, known, out);
  if (!out.stalls && !out.counted) return out;
  out.application = stakes::jobOf(object);
  if (out.stalls) out.stalls->queueUsual = book_.median(keyOf(now, pod), kQueue);
  if (!watched) learn(now, pod, out);
  return out;
}

// Quotas as they are now, against those of the tick before, while we wanted the same.
bool Senses::movedByOthers(const Situation& now, const std::string& cgroup) {
  const auto present = now.present.present(cgroup, name::kCpuQuota);
  const int64_t quota = present ? present->number : kUnlimited;
  const auto known = quotas_.find(cgroup);
  const bool changed = known != quotas_.end() && known->second != quota;
  quotas_[cgroup] = quota;
  const auto wish = [&](const std::map<std::string, int64_t>& from) {
    const auto found = from.find(cgroup);
    return found == from.end() ? kUnlimited : found->second;
  };
  return changed && wish(wanted_) == wish(before_);
}

Neighbour Senses::neighbourOf(const Situation& now, const PodLook& pod, bool groupMoved) {
  const api::Pod& object = *pod.pod;
  Neighbour out;
  out.uid = object.meta.uid.str();
  out.name = fmt::format("{}/{}", object.meta.ns.view(), object.meta.name.view());
  out.rank = stakes::rankOf(pod.band);
  out.priority = object.spec->priority.value_or(0);
  if (object.status.startTime != kZeroTime) out.running = now.look.wall - object.status.startTime;
  out.cores = pod.usage.cpu.value_or(0);
  out.memory = static_cast<double>(pod.usage.memory.value_or(Bytes{0}).v);
  out.bestEffort = pod.qos == api::Qos::kBe;
  out.exempt = object.meta.annotations.get(api::kInterferenceExempt) == "true";
  out.evictable = api::isEvictableBy(object.meta.annotations, kFeature) && !api::isMirror(object);
  out.foreign = movedByOthers(now, std::string(pod.cgroup)) || groupMoved;
  return out;
}

Scene Senses::look(const Situation& now, const interference::Episodes& episodes) {
  Scene out;
  out.at = now.look.at;
  out.wall = now.look.wall;
  const bool due = next_ == MonoTime::min() || now.look.at >= next_;
  if (due) next_ = now.look.at + kEvery;
  std::set<std::string> services;
  const std::string group = now.look.machine->layout().tierDir(kernel::PodTier::kBestEffort);
  const bool groupMoved = movedByOthers(now, group);
  for (const PodLook& pod : now.look.pods) {
    if (isWatchedService(pod)) {
      const std::string uid = pod.pod->meta.uid.str();
      services.insert(uid);
      out.services.push_back(serviceOf(now, pod, due, episodes.watches(uid)));
    } else if (isOffline(pod)) {
      out.neighbours.push_back(neighbourOf(now, pod, groupMoved));
    }
  }
  if (due) {
    std::erase_if(known_, [&](const auto& one) { return services.count(one.first) == 0; });
    book_.age(now.look.wall);
  }
  return out;
}

}  // namespace mangrove::agent
