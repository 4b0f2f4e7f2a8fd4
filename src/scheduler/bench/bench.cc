#include "scheduler/bench/bench.h"

#include <algorithm>
#include <cstdio>

#include <fmt/core.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/text/nearest.h"
#include "base/text/time_text.h"
#include "client/bench/api/process_probe.h"
#include "json/value.h"
#include "placement/engine/engine.h"
#include "scheduler/bench/cases.h"
#include "scheduler/bench/core_engine.h"
#include "scheduler/bench/quota_bench.h"
#include "scheduler/bench/turns.h"
#include "scheduler/names.h"

namespace mangrove::scheduler {

namespace {

constexpr int64_t kManyNodes = 1000;  // above, a case has the pods it has for 5 000

class CoreBench {
 public:
  CoreBench(const BenchCase& bench, const BenchOptions& options)
      : bench_(bench), options_(options), engine_(realClock(), effects_, registry_) {}

  Result<BenchResult> run() {
    const auto config = benchConfig(options_.without);
    if (!config) return pass(config.error());
    if (auto ok = engine_.configure(*config); !ok) return pass(ok.error());
    const size_t first = firstOf(bench_, options_), measured = measuredOf(bench_, options_);
    addNodes();
    addReservations();
    addPods(bench_.first, "first", first);
    drain(nullptr);
    const size_t before = effects_.bound;
    addPods(bench_.measured, "pod", measured);
    std::vector<double> micros;
    micros.reserve(measured);
    const double cpu = client::processorSecondsOf(::getpid());
    const MonoTime start = realClock().mono();
    bench_.ticks > 0 ? idle(micros) : drain(&micros);
    const Duration took = realClock().mono() - start;
    return summary(measured, first, effects_.bound - before, took,
                   client::processorSecondsOf(::getpid()) - cpu, std::move(micros));
  }

 private:
  void addNodes() {
    const std::string now = formatTime(realClock().wall());
    for (size_t i = 0; i < static_cast<size_t>(options_.nodes); i++) {
      auto node = api::decodeText<api::Node>(nodeJson(bench_, i));
      engine_.nodeChanged(nullptr, std::make_shared<api::Node>(std::move(*node)));
      if (hasDevices(bench_)) addDevice(i);
      // Load estimates of victims stay until their nodes report: with thresholds nobody could move
      // in.
      if (!options_.withMetrics || bench_.measured == BenchPod::kHighPriority) continue;
      auto metric = api::decodeText<api::NodeMetric>(metricJson(i, now));
      engine_.cluster().putMetric("node-" + std::to_string(i),
                                  std::make_shared<api::NodeMetric>(std::move(*metric)));
    }
  }

  void addDevice(size_t number) {
    auto device = api::decodeText<api::Device>(deviceJson(number));
    engine_.cluster().putDevice("node-" + std::to_string(number),
                                std::make_shared<api::Device>(std::move(*device)));
  }

  void addReservations() {
    const size_t count = reservationsOf(bench_, static_cast<size_t>(options_.nodes));
    for (size_t i = 0; i < count; i++) {
      auto one = api::decodeText<api::Reservation>(reservationJson(bench_, i));
      one->meta.uid = api::Uid(fmt::format("00000000-0000-4000-9000-{:012x}", ++uids_));
      one->meta.creationTimestamp = realClock().wall();
      engine_.reservationChanged(nullptr, std::make_shared<api::Reservation>(std::move(*one)));
    }
  }

  void addPods(BenchPod kind, std::string_view name, size_t count) {
    for (size_t i = 0; i < count; i++) {
      auto pod =
          api::decodeText<api::Pod>(podJson(kind, name, i, static_cast<size_t>(options_.nodes)));
      pod->meta.uid = api::Uid(fmt::format("00000000-0000-4000-8000-{:012x}", ++uids_));
      engine_.podChanged(nullptr, std::make_shared<api::Pod>(std::move(*pod)));
    }
  }

  void drain(std::vector<double>* micros) {
    size_t turn = 0;
    MonoTime tickAt = realClock().mono() + std::chrono::seconds(1);
    for (MonoTime then = realClock().mono(); engine_.scheduleOne();) {
      effects_.answer();
      for (const auto& victim : std::exchange(effects_.victims, {}))
        engine_.podChanged(victim, nullptr);
      if (bench_.churn && ++turn % 100 == 0) churn(turn);
      const MonoTime now = realClock().mono();
      if (micros) micros->push_back(std::chrono::duration<double, std::micro>(now - then).count());
      if (now >= tickAt) {
        engine_.tick();
        tickAt = now + std::chrono::seconds(1);
      }
      then = realClock().mono();
    }
  }

  // Time goes by and nothing happens.
  void idle(std::vector<double>& micros) {
    for (int i = 0; i < bench_.ticks; i++) {
      const MonoTime then = realClock().mono();
      engine_.tick();
      micros.push_back(
          std::chrono::duration<double, std::micro>(realClock().mono() - then).count());
    }
  }

  // A node comes or goes, as in the public benchmark's churn.
  void churn(size_t turn) {
    auto node = api::decodeText<api::Node>(nodeJson(bench_, 1'000'000 + turn));
    auto object = std::make_shared<api::Node>(std::move(*node));
    engine_.nodeChanged(nullptr, object);
    if (churned_) engine_.nodeChanged(churned_, nullptr);
    churned_ = object;
  }

  BenchResult summary(size_t pods, size_t first, size_t scheduled, Duration took, double cpu,
                      std::vector<double> micros) const {
    BenchResult out;
    out.name = bench_.name;
    out.mode = "core";
    out.nodes = static_cast<size_t>(options_.nodes);
    out.firstPods = first;
    out.pods = pods;
    out.scheduled = scheduled;
    out.seconds = std::chrono::duration<double>(took).count();
    out.perSecond = static_cast<double>(scheduled) / std::max(out.seconds, 1e-9);
    std::sort(micros.begin(), micros.end());
    const auto at = [&](double share) {
      if (micros.empty()) return 0.0;
      return micros[static_cast<size_t>(share * static_cast<double>(micros.size() - 1))];
    };
    out.p50Micros = at(0.5);
    out.p99Micros = at(0.99);
    out.maxMicros = at(1);
    const size_t units = bench_.ticks > 0 ? static_cast<size_t>(bench_.ticks) : scheduled;
    out.cpuMicrosPerPod = cpu * 1e6 / static_cast<double>(std::max<size_t>(1, units));
    out.rssMegabytes = peakMegabytes();
    return out;
  }

  const BenchCase& bench_;
  const BenchOptions& options_;
  Registry registry_;
  YesEffects effects_;
  Engine engine_;
  std::shared_ptr<const api::Node> churned_;
  int64_t uids_ = 0;
};

}  // namespace

Result<SchedulerConfig> benchConfig(const std::vector<std::string>& without) {
  SchedulerConfig config = defaultConfig({"koord-scheduler"});
  for (const std::string& name : without) {
    size_t removed = 0;
    for (ProfileConfig& profile : config.profiles)
      for (auto& [point, plugins] : profile.points)
        removed += std::erase_if(plugins, [&](const auto& plugin) { return plugin.name == name; });
    if (removed == 0)
      return invalid("--without {}: the default profile has no plugin of that name", name);
  }
  return config;
}

size_t peakMegabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<size_t>(usage.ru_maxrss) / 1024;
}

void forgetPeak() {
  malloc_trim(0);
  if (std::FILE* file = std::fopen("/proc/self/clear_refs", "w")) {
    std::fputs("5", file);  // sets the high-water mark to the present size
    std::fclose(file);
  }
}

size_t firstOf(const BenchCase& bench, const BenchOptions& options) {
  return options.nodes > kManyNodes ? bench.firstLarge : bench.firstSmall;
}

size_t measuredOf(const BenchCase& bench, const BenchOptions& options) {
  if (options.pods > 0) return static_cast<size_t>(options.pods);
  return options.nodes > kManyNodes ? bench.measuredLarge : bench.measuredSmall;
}

Result<std::vector<const BenchCase*>> casesOf(const BenchOptions& options) {
  std::vector<const BenchCase*> cases;
  std::vector<std::string_view> known;
  for (const auto& bench : benchCases()) known.push_back(bench.name);
  for (const auto& name : options.cases) {
    const BenchCase* found = findCase(name);
    if (!found) return invalid("no case '{}'{}", name, didYouMean(name, known));
    cases.push_back(found);
  }
  if (cases.empty())
    for (const auto& bench : benchCases()) cases.push_back(&bench);
  return cases;
}

Result<std::vector<BenchResult>> runCoreBench(const BenchOptions& options) {
  auto cases = casesOf(options);
  if (!cases) return pass(cases.error());
  std::vector<BenchResult> out;
  for (const BenchCase* bench : *cases) {
    forgetPeak();
    auto result = hasQuotas(bench->measured) ? runQuotaCore(*bench, options)
                                             : CoreBench(*bench, options).run();
    if (!result) return result.error().in("{}", bench->name);
    out.push_back(std::move(*result));
  }
  return out;
}

std::string benchTable(const std::vector<BenchResult>& results) {
  std::string out = fmt::format(
      "{:<36} {:<5} {:>6} {:>6} {:>6} {:>8} {:>8} {:>8} {:>8} {:>6} {:>8} {:>6} {:>14}\n", "case",
      "mode", "nodes", "pods", "bound", "pods/s", "p50 us", "p99 us", "cpu us", "RSS MB", "raw/s",
      "raw us", "of raw");
  const auto known = [](double value, int digits) {
    return value > 0 ? fmt::format("{:.{}f}", value, digits) : std::string("-");
  };
  for (const auto& r : results)
    out += fmt::format(
        "{:<36} {:<5} {:>6} {:>6} {:>6} {:>8.0f} {:>8} {:>8} {:>8.1f} {:>6} {:>8} {:>6} {:>14}\n",
        r.name, r.mode, r.nodes, r.pods, r.scheduled, r.perSecond, known(r.p50Micros, 1),
        known(r.p99Micros, 1), r.cpuMicrosPerPod, r.rssMegabytes, known(r.rawPerSecond, 0),
        known(r.rawCpuMicros, 1), shareText(r.shareOfRaw));
  for (const auto& r : results)
    if (r.moreMicros.count > 0)
      out += fmt::format(
          "{}: {:.2f} us [{:.2f}, {:.2f}] of processor time a pod more than without, in {} pairs; "
          "{:.1f} us in a second in which nothing happens, with {} pods blocked\n",
          r.name, r.moreMicros.estimate, r.moreMicros.low, r.moreMicros.high, r.moreMicros.count,
          r.idleMicros, r.firstPods);
  return out;
}

std::string benchJson(const std::vector<BenchResult>& results) {
  json::Array out;
  for (const auto& r : results) {
    json::Value more;
    if (r.moreMicros.count > 0)
      more = json::Object{{"median", r.moreMicros.estimate},
                          {"low", r.moreMicros.low},
                          {"high", r.moreMicros.high},
                          {"pairs", r.moreMicros.count}};
    out.push_back(json::Object{{"case", r.name},
                               {"mode", r.mode},
                               {"nodes", r.nodes},
                               {"firstPods", r.firstPods},
                               {"pods", r.pods},
                               {"scheduled", r.scheduled},
                               {"seconds", r.seconds},
                               {"podsPerSecond", r.perSecond},
                               {"p50Micros", r.p50Micros},
                               {"p99Micros", r.p99Micros},
                               {"maxMicros", r.maxMicros},
                               {"cpuMicrosPerPod", r.cpuMicrosPerPod},
                               {"peakRssMegabytes", r.rssMegabytes},
                               {"rawBindingsPerSecond", r.rawPerSecond},
                               {"rawCpuMicrosPerPod", r.rawCpuMicros},
                               {"shareOfRaw", shareJson(r.shareOfRaw)},
                               {"moreCpuMicrosPerPod", std::move(more)},
                               {"idleMicrosPerSecond", r.idleMicros}});
  }
  return json::writePretty(out) + "\n";
}

}  // namespace mangrove::scheduler
