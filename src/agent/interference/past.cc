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

std::optional<double> Instant::of(Resource resource) const {
  if (resource == Resource::kMemory) return memory;
  return resource == Resource::kIo ? io : cpu;
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
  }
  for (const Neighbour& one : scene.neighbours) {
    pods.insert(one.uid);
    push(pods_[one.uid].cores, one.cores);
    push(pods_[one.uid].memory, one.memory);
  }
  keepOnly(services_, services);
  keepOnly(pods_, pods);
}

const Past::Series& Past::signalOf(const Signals& all, Resource resource) const {
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

double Past::correlation(const std::string& service, Resource resource, double threshold,
                         const std::string& pod) const {
  const auto victim = services_.find(service);
  const auto suspect = pods_.find(pod);
  if (victim == services_.end() || suspect == pods_.end()) return 0;
  const Series& signal = signalOf(victim->second, resource);
  const Series& use =
      resource == Resource::kMemory ? suspect->second.memory : suspect->second.cores;
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
