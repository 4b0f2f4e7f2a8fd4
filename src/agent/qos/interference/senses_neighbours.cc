// What offline pods use, and whether somebody else limits them.
#include <fmt/format.h>

#include "agent/qos/interference/senses.h"
#include "agent/qos/interference/senses_keys.h"
#include "api/annotations/eviction.h"
#include "api/interference/policy.h"
#include "base/number/elapsed.h"
#include "kernel/control_files.h"
#include "kernel/resource_names.h"
#include "stakes/stake.h"

namespace mangrove::agent {
namespace {

using interference::Neighbour;
namespace name = kernel::resource_name;

constexpr std::string_view kFeature = "Interference";

std::optional<uint64_t> ioOf(const Situation& now, const PodLook& pod) {
  const Machine& machine = *now.look.machine;
  const auto path =
      kernel::filePath(machine.trees(), *kernel::findResource(name::kIoServed), pod.cgroup);
  const auto text = path ? now.present.text(*path) : std::nullopt;
  return text ? kernel::parseIoServed(*text, machine.trees().version()) : std::nullopt;
}

struct CacheUse {
  std::optional<double> bytes;
  std::optional<uint64_t> moved;
};

CacheUse cacheOf(const Situation& now, const std::string& uid) {
  CacheUse out;
  for (const PodResctrlLook& one : now.look.podResctrl) {
    if (one.uid != uid) continue;
    for (const kernel::CacheSample& sample : one.caches) {
      if (sample.llcBytes)
        out.bytes = out.bytes.value_or(0) + static_cast<double>(*sample.llcBytes);
      if (sample.totalBytes) out.moved = out.moved.value_or(0) + *sample.totalBytes;
    }
  }
  return out;
}

std::optional<double> rateOf(const std::optional<uint64_t>& before,
                             const std::optional<uint64_t>& now, Duration passed) {
  if (!before || !now || *now < *before || passed <= Duration::zero()) return std::nullopt;
  return static_cast<double>(*now - *before) / std::chrono::duration<double>(passed).count();
}

}  // namespace

// Every ten seconds; in between the last rates stand.
void Senses::addTraffic(const Situation& now, const PodLook& pod, Neighbour& out) {
  Moved& known = traffic_[out.uid];
  const CacheUse cache = cacheOf(now, out.uid);
  out.cache = cache.bytes;
  if (known.at == MonoTime::min() || now.look.at - known.at >= kEvery) {
    const Duration passed = known.at == MonoTime::min() ? Duration::zero() : now.look.at - known.at;
    const auto io = ioOf(now, pod);
    known.ioRate = rateOf(known.io, io, passed);
    known.bandwidthRate = rateOf(known.bandwidth, cache.moved, passed);
    known.io = io;
    known.bandwidth = cache.moved;
    known.at = now.look.at;
  }
  out.io = known.ioRate;
  out.bandwidth = known.bandwidthRate;
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
  out.application = classOf(object);
  out.rank = stakes::rankOf(pod.band);
  out.priority = object.spec->priority.value_or(0);
  if (object.status.startTime != kZeroTime)
    out.running = elapsed(object.status.startTime, now.look.wall);
  out.cores = pod.usage.cpu.value_or(0);
  out.memory = static_cast<double>(pod.usage.memory.value_or(Bytes{0}).v);
  out.bestEffort = pod.qos == api::Qos::kBe;
  out.exempt = object.meta.annotations.get(api::kInterferenceExempt) == "true";
  out.evictable = api::isEvictableBy(object.meta.annotations, kFeature) && !api::isMirror(object);
  out.foreign = movedByOthers(now, std::string(pod.cgroup)) || groupMoved;
  addTraffic(now, pod, out);
  return out;
}

}  // namespace mangrove::agent
