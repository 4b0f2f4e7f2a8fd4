// Watermarks over the tick: reads what the tick does not measure, asks the marks, takes victims.
#include <algorithm>

#include <fmt/format.h>

#include "agent/qos/evict/least_loss.h"
#include "agent/qos/evict/strategy.h"
#include "api/annotations/eviction.h"
#include "api/pod/classes.h"
#include "stakes/stake.h"

namespace mangrove::agent {
namespace {

constexpr std::string_view kFeature = "WatermarkEvict";

std::optional<double> percent(std::optional<double> part, double whole) {
  if (!part || whole <= 0) return std::nullopt;
  return *part * 100 / whole;
}

std::optional<double> memoryPercent(const std::optional<Bytes>& part, const Look& look) {
  if (!part) return std::nullopt;
  return percent(static_cast<double>(part->v), static_cast<double>(look.node.memoryTotal.v));
}

double cpusOf(const Look& look) {
  return static_cast<double>(look.machine->cpus().cpus.size());
}

std::optional<double> shareOf(const PodLook& pod, std::string_view metric, const Look& look) {
  if (metric == metric::kMemory || metric == metric::kPressure)
    return memoryPercent(pod.usage.memory, look);
  if (metric == metric::kCpu) return percent(pod.usage.cpu, cpusOf(look));
  // A busy core is one in the load.
  if (metric == metric::kLoad && pod.usage.cpu) return *pod.usage.cpu / cpusOf(look);
  return std::nullopt;
}

Result<std::vector<Watermark>> marksOf(const api::Node& node) {
  const auto said = node.meta.annotations.get(kWatermarksAnnotation);
  return said ? parseWatermarks(*said) : defaultWatermarks();
}

}  // namespace

std::optional<double> WatermarkEvictor::diskBusy(const Situation& now) {
  const auto text = now.present.text(now.look.machine->mounts().procFile("diskstats"));
  if (!text) return std::nullopt;
  std::map<std::string, int64_t> busy = busyOf(*text);
  std::optional<double> most;
  if (busyAt_ != MonoTime::min() && now.look.at > busyAt_) {
    const double passed = std::chrono::duration<double, std::milli>(now.look.at - busyAt_).count();
    for (const auto& [name, ms] : busy)
      if (auto before = busy_.find(name); before != busy_.end())
        most = std::max(most.value_or(0), static_cast<double>(ms - before->second) * 100 / passed);
  }
  busy_ = std::move(busy);
  busyAt_ = now.look.at;
  return most;
}

std::optional<double> WatermarkEvictor::valueOf(const Situation& now, std::string_view metric) {
  const Look& look = now.look;
  if (metric == metric::kMemory) return memoryPercent(look.node.usage.memory, look);
  if (metric == metric::kCpu) return percent(look.node.usage.cpu, cpusOf(look));
  if (metric == metric::kDiskUtil) return diskBusy(now);
  if (metric == metric::kLoad) {
    const auto text = now.present.text(look.machine->mounts().procFile("loadavg"));
    const auto load = text ? loadOf(*text) : std::nullopt;
    if (!load || cpusOf(look) <= 0) return std::nullopt;
    return *load / cpusOf(look);
  }
  if (metric == metric::kPressure) {
    const auto& some = look.node.pressure.memory;
    return some ? std::optional(some->some.avg10) : std::nullopt;
  }
  const auto disk = now.present.disk();
  if (!disk) return std::nullopt;
  return metric == metric::kInodes ? disk->inodePercent : disk->usedPercent;
}

std::vector<WatermarkPod> WatermarkEvictor::candidates(const Situation& now,
                                                       std::string_view metric) const {
  std::vector<WatermarkPod> out;
  for (const PodLook& pod : now.look.pods) {
    if (!pod.pod || !isActivePhase(*pod.pod) || api::isMirror(*pod.pod)) continue;
    if (api::rawQos(pod.pod->meta.labels) != api::Qos::kBe) continue;
    if (!api::isEvictableBy(pod.pod->meta.annotations, kFeature)) continue;
    if (lately_->wasRefused(pod.pod->meta.uid.str())) continue;
    out.push_back({pod.pod.get(), shareOf(pod, metric, now.look),
                   pod.pod->meta.isDeleting() || lately_->has(pod.pod->meta.uid.str())});
  }
  return out;
}

std::vector<MarkVictim> WatermarkEvictor::victimsOf(const Situation& now, const Watermark& mark,
                                                    double value,
                                                    std::span<const WatermarkPod> pods) const {
  if (now.gates.on(kLeastLoss)) return leastLossVictims(mark, value, pods, lossView(now, *lately_));
  std::vector<MarkVictim> out;
  for (const WatermarkPod* victim : watermarkVictims(mark, value, pods))
    out.push_back({victim, {}});
  return out;
}

Wishes WatermarkEvictor::decide(const Situation& now) {
  Wishes out;
  if (!now.node) return out;
  const auto marks = marksOf(*now.node);
  if (!marks) {
    out.note = marks.error().text();
    return out;
  }
  lately_->forget(now.look.at);
  wall_ = now.look.wall;
  for (const Watermark& mark : *marks) {
    const auto value = valueOf(now, mark.metric);
    if (!timer_.over(mark, value, now.look.at)) continue;
    out.trouble = true;
    if (now.look.at < coolUntil_ || !out.evictions.empty()) continue;
    const std::vector<WatermarkPod> pods = candidates(now, mark.metric);
    const std::string why =
        fmt::format("{} {:.1f} is over its mark {:g}", mark.metric, *value, mark.watermark);
    for (const MarkVictim& victim : victimsOf(now, mark, *value, pods))
      out.evictions.push_back({now.look.book->find(victim.pod->pod->meta.uid.str()), kFeature,
                               victim.loss.empty() ? why : why + "; " + victim.loss,
                               static_cast<int64_t>(victim.pod->share.value_or(0))});
  }
  return out;
}

void WatermarkEvictor::sent(const Ousting& one, MonoTime at) {
  lately_->add(one.pod->meta.uid.str(), at);
  lately_->tally().add(stakes::jobOf(*one.pod), wall_);
  coolUntil_ = at + kCoolDown;
}

}  // namespace mangrove::agent
