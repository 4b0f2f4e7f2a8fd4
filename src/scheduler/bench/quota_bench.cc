#include "scheduler/bench/quota_bench.h"

#include <algorithm>

#include <fmt/core.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text/time_text.h"
#include "client/bench/api/process_probe.h"
#include "scheduler/bench/cases.h"
#include "scheduler/bench/core_engine.h"
#include "scheduler/bench/turns.h"

namespace mangrove::scheduler {

namespace {

constexpr uint64_t kSeed = 1;
constexpr int kIdleTicks = 200;
constexpr size_t kSlice = 500;  // pods: short, so that both sides of a pair meet the same machine
constexpr double kCostConfidence = 0.95;

std::vector<size_t> shortSlices(size_t pods) {
  const size_t count = std::max<size_t>(2, pods / kSlice);
  std::vector<size_t> out;
  for (size_t i = 0; i < count; i++) out.push_back(pods * (i + 1) / count - pods * i / count);
  return out;
}

// Processor time a pod of ours less that of raw, pair by pair.
stats::Interval moreMicrosOf(const Turns& turns) {
  std::vector<double> more;
  for (size_t i = 0; i < turns.ours.size(); i++)
    more.push_back(cpuMicrosOf({turns.ours[i]}) - cpuMicrosOf({turns.raw[i]}));
  return stats::medianInterval(more, kCostConfidence, kSeed);
}

// One of the two sides.
class Side {
 public:
  Side(const BenchCase& bench, const BenchOptions& options, bool quotas)
      : bench_(bench),
        options_(options),
        quotas_(quotas),
        engine_(realClock(), effects_, registry_) {}

  Result<> prepare() {
    const auto config = benchConfig(quotas_ ? std::vector<std::string>{}
                                            : std::vector<std::string>{"ElasticQuota"});
    if (!config) return pass(config.error());
    if (auto ok = engine_.configure(*config); !ok) return ok;
    addNodes();
    if (!quotas_) return {};
    addQuotas();
    show(decoded(bench_.first, "first", firstOf(bench_, options_)));
    while (engine_.scheduleOne()) effects_.answer();
    return {};
  }

  Result<Slice> slice(size_t pods) {
    const auto coming = decoded(bench_.measured, "pod", pods);
    const size_t wanted = effects_.bound + pods;
    const double cpu = client::processorSecondsOf(::getpid());
    const MonoTime start = realClock().mono();
    show(coming);
    while (engine_.scheduleOne()) effects_.answer();
    if (realClock().mono() >= tickAt_) {  // once a second, as the role does
      engine_.tick();
      tickAt_ = realClock().mono() + std::chrono::seconds(1);
    }
    const Slice taken{pods, std::chrono::duration<double>(realClock().mono() - start).count(),
                      client::processorSecondsOf(::getpid()) - cpu};
    if (effects_.bound != wanted)
      return fail(mangrove::Code::kInternal, "{} of {} pods were bound", effects_.bound, wanted);
    return taken;
  }

  double idleMicros() {
    engine_.tick();
    const double cpu = client::processorSecondsOf(::getpid());
    for (int i = 0; i < kIdleTicks; i++) engine_.tick();
    return (client::processorSecondsOf(::getpid()) - cpu) * 1e6 / kIdleTicks;
  }

 private:
  void addNodes() {
    const std::string now = formatTime(realClock().wall());
    for (size_t i = 0; i < static_cast<size_t>(options_.nodes); i++) {
      auto node = api::decodeText<api::Node>(nodeJson(bench_, i));
      engine_.nodeChanged(nullptr, std::make_shared<api::Node>(std::move(*node)));
      if (!options_.withMetrics) continue;
      auto metric = api::decodeText<api::NodeMetric>(metricJson(i, now));
      engine_.cluster().putMetric("node-" + std::to_string(i),
                                  std::make_shared<api::NodeMetric>(std::move(*metric)));
    }
  }
  void addQuotas() {
    const auto leaves = static_cast<size_t>(options_.leaves);
    for (size_t i = 0; i < quotaCount(leaves); i++) {
      auto quota = api::decodeText<api::ElasticQuota>(quotaJson(i, leaves));
      engine_.cluster().putQuota("default/" + quotaObjectName(i, leaves),
                                 std::make_shared<api::ElasticQuota>(std::move(*quota)));
    }
  }
  using Pods = std::vector<std::shared_ptr<const api::Pod>>;
  Pods decoded(BenchPod kind, std::string_view name, size_t count) {
    Pods out;
    for (size_t i = 0; i < count; i++, uids_++) {
      auto pod = api::decodeText<api::Pod>(
          podJson(kind, name, uids_, static_cast<size_t>(options_.nodes), "koord-scheduler",
                  "default", static_cast<size_t>(options_.leaves)));
      pod->meta.uid = api::Uid(fmt::format("00000000-0000-4000-8000-{:012x}", uids_ + 1));
      out.push_back(std::make_shared<api::Pod>(std::move(*pod)));
    }
    return out;
  }
  void show(const Pods& pods) {
    for (const auto& pod : pods) engine_.podChanged(nullptr, pod);
  }

  const BenchCase& bench_;
  const BenchOptions& options_;
  const bool quotas_;
  Registry registry_;
  YesEffects effects_;
  Engine engine_;
  size_t uids_ = 0;
  MonoTime tickAt_{};
};

}  // namespace

Result<BenchResult> runQuotaCore(const BenchCase& bench, const BenchOptions& options) {
  if (options.leaves < 100 || options.leaves % 100 != 0)
    return invalid("--leaves {}: want a multiple of 100", options.leaves);
  Side with(bench, options, true), without(bench, options, false);
  if (auto ok = with.prepare(); !ok) return pass(ok.error());
  if (auto ok = without.prepare(); !ok) return pass(ok.error());
  const size_t measured = measuredOf(bench, options);
  const auto turns = takeTurns(
      shortSlices(measured), [&](size_t pods) { return without.slice(pods); },
      [&](size_t pods) { return with.slice(pods); }, kSeed);
  if (!turns) return pass(turns.error());
  BenchResult out;
  out.name = bench.name;
  out.mode = "core";
  out.nodes = static_cast<size_t>(options.nodes);
  out.firstPods = firstOf(bench, options);
  out.pods = out.scheduled = measured;
  for (const Slice& slice : turns->ours) out.seconds += slice.seconds;
  out.perSecond = rateOf(turns->ours);
  out.cpuMicrosPerPod = cpuMicrosOf(turns->ours);
  out.rawPerSecond = rateOf(turns->raw);
  out.rawCpuMicros = cpuMicrosOf(turns->raw);
  out.shareOfRaw = shareOf(*turns);
  out.moreMicros = moreMicrosOf(*turns);
  out.idleMicros = with.idleMicros();
  out.rssMegabytes = peakMegabytes();
  return out;
}

}  // namespace mangrove::scheduler
