// What the counters of a service say: by its workload's fences, by what it would show without offline
// work, and by its own past.
#include <algorithm>
#include <vector>

#include "agent/qos/interference/senses.h"
#include "agent/qos/interference/senses_keys.h"

namespace mangrove::agent {
namespace {

using interference::Counted;
using interference::CounterDeltas;
using interference::CounterSample;
using interference::Service;

constexpr size_t kRefit = 20;  // new samples

void addTo(std::optional<double>& sum, const std::optional<double>& more, bool first) {
  if (first)
    sum = more;
  else
    sum = sum && more ? std::optional(*sum + *more) : std::nullopt;
}

// All containers together; what one of them does not count is not known of the pod.
template <class Get>
std::optional<kernel::PerfCounts> sumOf(const PodLook& pod, Get get) {
  std::optional<kernel::PerfCounts> sum;
  for (const ContainerLook& container : pod.containers) {
    const std::optional<kernel::PerfCounts>& one = get(container);
    if (!one) continue;
    const bool first = !sum;
    if (first) sum.emplace();
    sum->cycles += one->cycles;
    sum->instructions += one->instructions;
    addTo(sum->cacheMisses, one->cacheMisses, first);
    addTo(sum->stallCycles, one->stallCycles, first);
    addTo(sum->cpuSeconds, one->cpuSeconds, first);
    sum->counted = first ? one->counted : std::min(sum->counted, one->counted);
    sum->window = std::max(sum->window, one->window);
  }
  return sum;
}

CounterDeltas deltasOf(const kernel::PerfCounts& sum, double cores) {
  const double seconds = std::chrono::duration<double>(sum.window).count();
  return {.cycles = sum.cycles,
          .instructions = sum.instructions,
          .cacheMisses = sum.cacheMisses,
          .stallCycles = sum.stallCycles,
          .cpuSeconds = sum.cpuSeconds.value_or(cores * seconds),
          .window = sum.window,
          .counted = sum.counted};
}

}  // namespace

// By this node's book, or by that of all nodes where it knows more.
api::Fence Senses::fenceOf(const std::string& key, double cpus, double util,
                           std::string_view signal) const {
  const api::Fence own = book_.fence(key, cpus, util, signal);
  const api::Fence all = board_->pooled.fence(key, cpus, util, signal);
  return all.samples > own.samples ? all : own;
}

void Senses::judgeCounters(const Situation& now, const PodLook& pod, const CounterSample& sample,
                           Known& known, Counted& out) {
  const std::string key = keyOf(now, pod);
  const double cpus = cpusOf(pod), util = sample.util;
  interference::SignalFences fences;
  const auto learned = [&](std::string_view signal) -> std::optional<double> {
    const api::Fence fence = fenceOf(key, cpus, util, signal);
    if (fence.state == api::Fence::State::kCold) return std::nullopt;
    return fence.value;
  };
  fences.cpi = learned(interference::kCpiSignal);
  fences.mpki = learned("mpki");
  fences.spki = learned("spki");
  fences.frequency = learned("frequency");
  const interference::OfflineSample seen{sample.util, offlineCores_, sample.cpi};
  known.past.push_back(seen);
  if (known.past.size() > kMostFits) known.past.pop_front();
  if (known.past.size() % kRefit == 0) {
    const std::vector<interference::OfflineSample> past(known.past.begin(), known.past.end());
    known.fit = interference::fitOffline(past);
  }
  if (known.fit.usable()) {
    fences.cpi = known.fit.fence(sample.util);
    out.regression = true;
    out.attributed = known.fit.attributed(seen);
  }
  out.fence = fences.cpi;
  out.contention = interference::contentionOf(sample, fences, cpus);
}

// A window of the counters ended when their sums differ from the last ones.
void Senses::addCounters(const Situation& now, const PodLook& pod, Known& known, Service& out) {
  counted_.reset();
  const auto lately =
      sumOf(pod, [](const ContainerLook& one) -> const auto& { return one.lately; });
  if (lately && lately->instructions > 0) out.instant.cpi = lately->cycles / lately->instructions;
  const auto sum = sumOf(pod, [](const ContainerLook& one) -> const auto& { return one.counts; });
  const bool fresh =
      sum && sum->instructions > 0 &&
      (sum->cycles != known.counts.cycles || sum->instructions != known.counts.instructions);
  if (!fresh) return;
  known.counts = *sum;
  const double cores = pod.usage.cpu.value_or(0);
  counted_ = interference::sampleOf(deltasOf(*sum, cores));
  if (!counted_) return;
  Counted counted;
  counted.cpi = counted_->cpi;
  judgeCounters(now, pod, *counted_, known, counted);
  if (const auto spec = known.spec.spec())
    counted.outliers =
        known.outliers.add(now.look.at, interference::isOutlier(counted.cpi, *spec, cores));
  known.spec.add(counted.cpi, cores);
  out.counted = std::move(counted);
}

}  // namespace mangrove::agent
