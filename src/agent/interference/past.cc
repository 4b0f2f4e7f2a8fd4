#include "agent/interference/past.h"

#include <algorithm>
#include <set>

#include "agent/interference/cpi2.h"

namespace mangrove::agent::interference {
namespace {

template <class Map>
void keepOnly(Map& map, const std::set<std::string>& present) {
  std::erase_if(map, [&](const auto& one) { return present.count(one.first) == 0; });
}

}  // namespace

std::optional<double> Instant::of(std::string_view signal, Resource resource) const {
  if (signal == kLatencySignal) return latency;
  if (signal == kCpiSignal) return cpi;
  if (signal == kLostSignal) return lost;
  if (resource == Resource::kMemory) return memory;
  return resource == Resource::kIo ? io : cpu;
}

double useOf(const Neighbour& pod, Resource resource) {
  switch (resource) {
    case Resource::kMemory:
      return pod.memory;
    case Resource::kIo:
      return pod.io.value_or(pod.cores);
    case Resource::kCache:
      return pod.cache.value_or(pod.cores);
    case Resource::kBandwidth:
      return pod.bandwidth.value_or(pod.cores);
    default:
      return pod.cores;
  }
}

void Past::push(Series& series, double value) {
  series.push_back(value);
  if (series.size() > kSamples) series.pop_front();
}

void Past::add(const Scene& scene) {
  const bool measured = std::any_of(scene.services.begin(), scene.services.end(),
                                    [](const Service& one) { return one.stalls.has_value(); });
  if (!measured || (next_ != MonoTime::min() && scene.at < next_)) return;
  next_ = scene.at + kEvery;
  std::set<std::string> services, pods;
  for (const Service& one : scene.services) {
    services.insert(one.uid);
    Signals& all = services_[one.uid];
    if (one.counted) all.lastCpi = one.counted->cpi;
    if (!one.stalls) continue;
    push(all.cpu, one.stalls->cpu.value_or(0));
    push(all.memory, one.stalls->memorySome.value_or(0));
    push(all.io, one.stalls->io.value_or(0));
    push(all.cpi, all.lastCpi);
    push(all.latency, one.stalls->latencyPercent.value_or(0));
    push(all.lost, one.stalls->lost.value_or(0));
  }
  for (const Neighbour& one : scene.neighbours) {
    pods.insert(one.uid);
    Use& use = pods_[one.uid];
    push(use.cores, one.cores);
    push(use.memory, useOf(one, Resource::kMemory));
    push(use.io, useOf(one, Resource::kIo));
    push(use.cache, useOf(one, Resource::kCache));
    push(use.bandwidth, useOf(one, Resource::kBandwidth));
  }
  keepOnly(services_, services);
  keepOnly(pods_, pods);
}

const Past::Series& Past::signalOf(const Signals& all, std::string_view signal, Resource resource) {
  if (signal == kLatencySignal) return all.latency;
  if (signal == kLostSignal) return all.lost;
  switch (resource) {
    case Resource::kMemory:
      return all.memory;
    case Resource::kIo:
      return all.io;
    case Resource::kCpu:
      return all.cpu;
    default:
      return all.lastCpi > 0 ? all.cpi : all.cpu;
  }
}

const Past::Series& Past::usedOf(const Use& use, Resource resource) {
  switch (resource) {
    case Resource::kMemory:
      return use.memory;
    case Resource::kIo:
      return use.io;
    case Resource::kCache:
      return use.cache;
    case Resource::kBandwidth:
      return use.bandwidth;
    default:
      return use.cores;
  }
}

double Past::cacheRise(const std::string& pod, double now) const {
  constexpr size_t kBefore = 5;
  const auto found = pods_.find(pod);
  if (found == pods_.end() || found->second.cache.empty()) return 0;
  const Series& series = found->second.cache;
  const size_t count = std::min(kBefore, series.size());
  double sum = 0;
  for (size_t i = series.size() - count; i < series.size(); ++i) sum += series[i];
  return std::max(0.0, now - sum / static_cast<double>(count));
}

double Past::correlation(const std::string& service, std::string_view signalName, Resource resource,
                         double threshold, const std::string& pod) const {
  const auto victim = services_.find(service);
  const auto suspect = pods_.find(pod);
  if (victim == services_.end() || suspect == pods_.end()) return 0;
  const Series& signal = signalOf(victim->second, signalName, resource);
  const Series& use = usedOf(suspect->second, resource);
  const size_t count = std::min(signal.size(), use.size());
  const std::vector<double> a(signal.end() - static_cast<ptrdiff_t>(count), signal.end());
  const std::vector<double> b(use.end() - static_cast<ptrdiff_t>(count), use.end());
  return interference::correlation(threshold, a, b);
}

double Past::usualOf(const std::string& pod) const {
  const auto found = pods_.find(pod);
  if (found == pods_.end() || found->second.cores.empty()) return 0;
  const Series& cores = found->second.cores;
  const size_t count = std::min<size_t>(6, cores.size());
  double sum = 0;
  for (size_t i = cores.size() - count; i < cores.size(); ++i) sum += cores[i];
  return sum / static_cast<double>(count);
}

}  // namespace mangrove::agent::interference
