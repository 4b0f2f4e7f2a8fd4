#include "agent/qos/interference/senses.h"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "agent/qos/interference/senses_keys.h"
#include "api/interference/policy.h"
#include "api/interference/proven_pairs.h"
#include "api/pod/pod_requests.h"
#include "kernel/cgroup_stat.h"
#include "kernel/control_files.h"
#include "kernel/pressure.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

using interference::Scene;
using interference::Service;
using interference::Stalls;
namespace name = kernel::resource_name;

constexpr std::string_view kQueue = "runq";
constexpr std::string_view kLatency = "latency";

constexpr double kFullLoad = 95;          // percent per CPU
constexpr uint64_t kLeastSegments = 100;  // fewer say nothing about their losses

std::optional<double> lostPercent(const std::optional<kernel::TcpSegments>& before,
                                  const std::optional<kernel::TcpSegments>& now) {
  if (!before || !now || now->sent < before->sent + kLeastSegments || now->again < before->again)
    return std::nullopt;
  return 100 * static_cast<double>(now->again - before->again) /
         static_cast<double>(now->sent - before->sent);
}

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

std::string versionOf(const api::Pod& pod) {
  for (const char* label : {"app.kubernetes.io/version", "pod-template-hash"})
    if (const auto said = pod.meta.labels.get(label)) return std::string(*said);
  return "";
}

}  // namespace

double cpusOf(const PodLook& pod) {
  const double limit = static_cast<double>(api::podLimits(*pod.pod->spec).cpu().v) / 1000;
  if (limit > 0) return limit;
  return static_cast<double>(api::podRequests(*pod.pod).cpu().v) / 1000;
}

std::string classOf(const api::Pod& pod) {
  return api::workloadClassOf(pod.meta.ns.view(), pod.meta.labels, pod.meta.controller(),
                              pod.meta.name.view());
}

std::string keyOf(const Situation& now, const PodLook& pod) {
  return api::workloadKey(now.look.machine->cpuBasics().model, classOf(*pod.pod),
                          versionOf(*pod.pod), cpusOf(pod));
}

bool isWatchedService(const PodLook& pod) {
  return pod.pod && pod.tier != kernel::PodTier::kBestEffort && pod.qos != api::Qos::kBe &&
         pod.qos != api::Qos::kSystem && pod.band != api::PriorityBand::kBatch &&
         pod.band != api::PriorityBand::kFree;
}

bool mayBeHeld(const PodLook& pod) {
  return isOffline(pod) && pod.pod->meta.annotations.get(api::kInterferenceExempt) != "true";
}

CpuSet coresOf(const Situation& now, const PodLook& pod) {
  CpuSet out;
  if (!pod.pod) return out;
  const PodSaidPtr said = saidBy(pod);
  for (const int cpu : said->ownCpus) out = out | now.look.machine->cpus().siblingsOf(cpu);
  return out;
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
                {},
                segmentsOf(now, pod)};
  if (known.tick.at != MonoTime::min()) {
    const Duration passed = now.look.at - known.tick.at;
    if (cpu) out.instant.cpu = percentOf(known.tick.cpu, totals.cpu, passed);
    if (memory) out.instant.memory = percentOf(known.tick.memory, totals.memory, passed);
    if (io) out.instant.io = percentOf(known.tick.io, totals.io, passed);
    out.instant.lost = lostPercent(known.tick.segments, totals.segments);
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
    stalls.lost = lostPercent(known.period.segments, totals.segments);
  }
  const double limit = static_cast<double>(api::podLimits(*pod.pod->spec).memory().v);
  if (limit > 0) stalls.memoryLimit = Bytes{static_cast<int64_t>(limit)};
  stalls.memoryUsed = pod.usage.memoryWithCache;
  known.period = totals;
}

// Of the pod's own network; those in the host's share it with everybody, and nobody is blamed for
// what the whole machine sends.
std::optional<kernel::TcpSegments> Senses::segmentsOf(const Situation& now,
                                                      const PodLook& pod) const {
  if (pod.pod->spec->hostNetwork) return std::nullopt;
  for (const ContainerLook& container : pod.containers)
    for (const int id : now.present.members(container.cgroup, name::kProcs)) {
      const auto text =
          now.present.text(now.look.machine->mounts().procFile(fmt::format("{}/net/snmp", id)));
      if (text) return kernel::parseTcpSegments(*text);
    }
  return std::nullopt;
}

// Trouble shows a few readings before it has lasted: the lower quarter of five minutes is of before.
static double wellOf(const std::deque<double>& means) {
  if (means.empty()) return 0;
  std::vector<double> sorted(means.begin(), means.end());
  const auto at = sorted.begin() + static_cast<ptrdiff_t>(sorted.size() / 4);
  std::nth_element(sorted.begin(), at, sorted.end());
  return *at;
}

// Without a promise it is judged by what is ordinary for it.
void Senses::addLatency(const Situation& now, const PodLook& pod, bool watched, Known& known,
                        Service& out) const {
  constexpr size_t kMostMeans = 30;
  constexpr double kWeight = 0.3;
  if (known.said != pod.pod) {
    known.said = pod.pod;
    const auto said = api::parseLatencyPromise(pod.pod->meta.annotations);
    known.promise = said ? *said : std::nullopt;
  }
  const auto seen = board_->latency.find(out.uid);
  if (!known.promise || seen == board_->latency.end()) return;
  if (const auto& recent = seen->second.recent) {
    out.instant.latency = recent->ms;
    out.instant.latencyOf = recent->length;
    out.instant.latencyAge = now.look.at - recent->until;
    known.meanLately += (known.meanLately > 0 ? kWeight : 1) * (recent->ms - known.meanLately);
    if (!watched) known.means.push_back(recent->ms);
    if (known.means.size() > kMostMeans) known.means.pop_front();
  }
  out.latencyLately = known.meanLately;
  out.latencyWell = wellOf(known.means);
  out.promisedMs = known.promise->promisedMs;
  if (out.promisedMs <= 0) {
    const api::Fence fence = fenceOf(keyOf(now, pod), cpusOf(pod), out.cores * 100, kLatency);
    if (fence.state != api::Fence::State::kCold) out.promisedMs = fence.value;
  }
  if (!out.stalls || !seen->second.tailMs) return;
  out.stalls->latencyMs = seen->second.tailMs;
  if (out.promisedMs > 0) out.stalls->latencyPercent = 100 * *seen->second.tailMs / out.promisedMs;
}

// Only while nothing is wrong: what hurts must not become ordinary.
void Senses::learn(const Situation& now, const PodLook& pod, const Service& seen) {
  api::Signals signals;
  if (counted_) {
    signals.emplace_back(interference::kCpiSignal, counted_->cpi);
    if (counted_->mpki) signals.emplace_back("mpki", *counted_->mpki);
    if (counted_->spki) signals.emplace_back("spki", *counted_->spki);
    if (counted_->util >= kFullLoad * cpusOf(pod))
      signals.emplace_back("frequency", counted_->frequency);
  }
  if (seen.stalls && seen.stalls->latencyMs)
    signals.emplace_back(kLatency, *seen.stalls->latencyMs);
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
  const api::OwnerReference* owner = object.meta.controller();
  out.mayMove = owner != nullptr && owner->kind.view() != "DaemonSet";
  Known& known = known_[out.uid];
  const bool again =
      known.period.at == MonoTime::min() || now.look.at - known.period.at >= kEveryWatched;
  due = due || (watched && again);
  if (due || watched) addStalls(now, pod, due, known, out);
  addCounters(now, pod, known, out);
  addLatency(now, pod, watched, known, out);
  if (!out.stalls && !out.counted) return out;
  out.application = classOf(object);
  out.hasSiblings = !(coresOf(now, pod) - saidBy(pod)->ownCpus).empty();
  const std::string key = keyOf(now, pod);
  workloads_.insert(key);
  if (out.stalls) {
    out.stalls->queueUsual = book_.median(key, kQueue);
    if (!out.stalls->queueUsual) out.stalls->queueUsual = board_->pooled.median(key, kQueue);
  }
  if (!watched) learn(now, pod, out);
  return out;
}

Scene Senses::look(const Situation& now, const interference::Episodes& episodes,
                   const InterferenceBoard& board) {
  Scene out;
  board_ = &board;
  out.at = now.look.at;
  out.wall = now.look.wall;
  const bool due = next_ == MonoTime::min() || now.look.at >= next_;
  if (due) next_ = now.look.at + kEvery;
  std::set<std::string> services, offline;
  if (due) workloads_.clear();
  offlineCores_ = 0;
  for (const PodLook& pod : now.look.pods)
    if (isOffline(pod)) offlineCores_ += pod.usage.cpu.value_or(0);
  const std::string group = now.look.machine->layout().tierDir(kernel::PodTier::kBestEffort);
  const bool groupMoved = movedByOthers(now, group);
  for (const PodLook& pod : now.look.pods) {
    if (isWatchedService(pod)) {
      const std::string uid = pod.pod->meta.uid.str();
      services.insert(uid);
      out.services.push_back(serviceOf(now, pod, due, episodes.watches(uid)));
    } else if (isOffline(pod)) {
      offline.insert(pod.pod->meta.uid.str());
      out.neighbours.push_back(neighbourOf(now, pod, groupMoved));
    }
  }
  if (due) {
    std::erase_if(known_, [&](const auto& one) { return services.count(one.first) == 0; });
    std::erase_if(traffic_, [&](const auto& one) { return offline.count(one.first) == 0; });
    book_.age(now.look.wall);
  }
  return out;
}

}  // namespace mangrove::agent
