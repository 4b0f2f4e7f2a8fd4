#include "scheduler/bench/server_bench.h"

#include <algorithm>

#include <fmt/core.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/os/log.h"
#include "client/bench/api/process_probe.h"
#include "client/http/http_api_client.h"
#include "placement/engine/engine.h"
#include "scheduler/bench/bench_cluster.h"
#include "scheduler/scheduler.h"

namespace mangrove::scheduler {

namespace {

const Logger log("bench");

constexpr Duration kLongest = std::chrono::minutes(10);
constexpr Duration kQuiet = std::chrono::milliseconds(50);

// While a slice of raw is taken the owner's thread sleeps, and what the watches bring waits: nobody
// who reads it disturbs.
class ServerBench {
 public:
  ServerBench(client::ApiClient& client, const BenchCase& bench, const BenchOptions& options,
              RawSide* raw)
      : client_(client),
        bench_(bench),
        options_(options),
        raw_(raw),
        cluster_(client, bench, options),
        churn_(client) {}

  Result<Turns> run(uint64_t seed) {
    auto turns = measure(seed);
    if (scheduler_) stop();
    cluster_.remove();
    return turns;
  }

 private:
  Result<Turns> measure(uint64_t seed) {
    if (auto ok = cluster_.createNodes(); !ok) return pass(ok.error());
    if (auto ok = start(); !ok) return pass(ok.error());
    if (auto ok = placeFirst(); !ok) return pass(ok.error());
    const TakeSlice raw = [this](size_t pods) { return rawSlice(pods); };
    return takeTurns(
        slicesOf(cluster_.measuredPods()), raw_ ? raw : nullptr,
        [this](size_t pods) { return slice(pods); }, seed);
  }

  Result<> start() {
    // Objects are read by the owner, as in the role.
    auto made = Scheduler::make(
        {client_, realClock(), owner_, owner_, registry_, defaultConfig({options_.schedulerName})});
    if (!made) return pass(made.error());
    scheduler_ = std::move(*made);
    scheduler_->start();
    scheduler_->setActive(true);
    scheduled_ =
        scheduler_->engine().metrics().scheduleAttempts.with({"scheduled", options_.schedulerName});
    return {};
  }

  Result<> placeFirst() {
    const size_t first = cluster_.firstPods();
    if (auto ok = cluster_.createPods(bench_.first, "first", first); !ok) return ok;
    const bool isBlocked =
        bench_.first == BenchPod::kTooLarge || bench_.first == BenchPod::kQuotaBlocked;
    const size_t placeable = isBlocked ? 0 : first;
    if (auto ok = until([&] { return bound() >= placeable && synced(); }, "first pods"); !ok)
      return ok;
    placed_ = bound();
    return settle();
  }

  Result<Slice> slice(size_t pods) {
    const size_t wanted = bound() + pods, waiting = queued() + pods;
    scheduler_->hold(true);
    if (auto ok = cluster_.createPods(bench_.measured, "pod", pods); !ok) return pass(ok.error());
    if (auto ok = until([&] { return queued() >= waiting; }, "pods in the queue"); !ok)
      return pass(ok.error());
    const double cpu = client::processorSecondsOf(::getpid());
    const MonoTime start = realClock().mono();
    scheduler_->hold(false);
    const auto reached = [&] {
      if (bench_.churn) churnUpTo((bound() - placed_) / kChurnEvery);
      return bound() >= wanted;
    };
    if (auto ok = until(reached, "measured pods"); !ok) return pass(ok.error());
    const Slice taken{pods, std::chrono::duration<double>(realClock().mono() - start).count(),
                      client::processorSecondsOf(::getpid()) - cpu};
    if (auto ok = settle(); !ok) return pass(ok.error());
    return taken;
  }

  Result<Slice> rawSlice(size_t pods) {
    auto taken = raw_->slice(pods);
    if (auto ok = settle(); !ok) return pass(ok.error());
    return taken;
  }

  // Until everything is read and written: events too, which come after bindings.
  Result<> settle() {
    if (auto ok = churn_.finish(); !ok) return ok.error().in("churn");
    return until([&] { return scheduler_->idle() && !owner_.runOne(kQuiet); }, "a quiet moment");
  }

  // A node comes and the one before it goes, as in the public benchmark's churn.
  void churnUpTo(size_t turn) {
    for (; churned_ < turn; churned_++) {
      churn_.send(creation(api::kind::kNode, "", nodeJson(bench_, kFirstChurnedNode + churned_)));
      if (churned_ > 0) churn_.send(removal(churned_ - 1));
    }
  }
  static client::Request removal(size_t turn) {
    return client::deleteRequest(
        {api::kind::kNode, "", fmt::format("node-{}", kFirstChurnedNode + turn)});
  }

  size_t bound() const { return static_cast<size_t>(scheduled_.value()); }
  size_t queued() {
    const auto sizes = scheduler_->engine().queue().sizes();
    return sizes.active + sizes.backoff + sizes.pool;
  }
  bool synced() {
    return scheduler_->synced() && scheduler_->engine().cluster().table.size() >= cluster_.nodes();
  }

  template <class Done>
  Result<> until(Done done, std::string_view what) {
    const MonoTime limit = realClock().mono() + kLongest;
    while (!done()) {
      owner_.runOne(std::chrono::milliseconds(5));
      if (realClock().mono() > limit)
        return fail(mangrove::Code::kTimeout, "waited ten minutes for {}", what);
    }
    return {};
  }

  // Answers under way need the mailbox: nothing goes before all of them are there.
  void stop() {
    bool stopped = false;
    scheduler_->stop([&] { stopped = true; });
    (void)until([&] { return stopped; }, "answers under way");
    scheduler_.reset();
    if (churned_ > 0) (void)client_.call(removal(churned_ - 1));
  }

  client::ApiClient& client_;
  const BenchCase& bench_;
  const BenchOptions& options_;
  RawSide* raw_;  // null: not measured
  BenchCluster cluster_;
  Registry registry_;
  Mailbox owner_;
  std::unique_ptr<Scheduler> scheduler_;
  Counter scheduled_;
  Burst churn_;
  size_t placed_ = 0;  // of the first pods
  size_t churned_ = 0;
};

BenchResult summary(const BenchCase& bench, const BenchOptions& options, std::string_view mode,
                    const Turns& turns) {
  BenchResult out;
  out.name = bench.name;
  out.mode = mode;
  out.nodes = static_cast<size_t>(options.nodes);
  out.firstPods = firstOf(bench, options);
  out.pods = out.scheduled = measuredOf(bench, options);
  for (const Slice& slice : turns.ours) out.seconds += slice.seconds;
  out.perSecond = rateOf(turns.ours);
  out.cpuMicrosPerPod = cpuMicrosOf(turns.ours);
  out.rssMegabytes = peakMegabytes();
  if (turns.raw.empty()) return out;
  out.rawPerSecond = rateOf(turns.raw);
  out.rawCpuMicros = cpuMicrosOf(turns.raw);
  out.shareOfRaw = shareOf(turns);
  return out;
}

Result<BenchResult> runCase(client::ApiClient& client, std::string_view mode,
                            const BenchCase& bench, const BenchOptions& options,
                            const ConnectRaw& connectRaw) {
  auto raw = connectRaw ? connectRaw(bench) : Result<std::unique_ptr<RawSide>>(nullptr);
  if (!raw) return pass(raw.error());
  Turns all;
  for (uint64_t i = 0; i < static_cast<uint64_t>(std::max<int64_t>(1, options.passes)); i++) {
    const auto turns = ServerBench(client, bench, options, raw->get()).run(i);
    if (!turns) return pass(turns.error());
    all.raw.insert(all.raw.end(), turns->raw.begin(), turns->raw.end());
    all.ours.insert(all.ours.end(), turns->ours.begin(), turns->ours.end());
  }
  return summary(bench, options, mode, all);
}

}  // namespace

Result<std::vector<BenchResult>> runServerBench(client::ApiClient& client, std::string_view mode,
                                                const BenchOptions& options,
                                                const ConnectRaw& connectRaw) {
  auto cases = casesOf(options);
  if (!cases) return pass(cases.error());
  std::vector<BenchResult> out;
  for (const BenchCase* bench : *cases) {
    forgetPeak();
    auto result = runCase(client, mode, *bench, options, connectRaw);
    if (!result && out.empty()) return result.error().in("{}", bench->name);
    if (result)
      out.push_back(std::move(*result));
    else
      log.error("{}: {}", bench->name, result.error().text());  // what was measured is not lost
  }
  return out;
}

Result<std::vector<BenchResult>> runHttpBench(const client::ClientConfig& config,
                                              const BenchOptions& options) {
  net::Loop loop;
  auto client = client::HttpApiClient::make(
      loop, realClock(), config,
      {.perSecond = 0,
       .connections =
           options.connections > 0 ? static_cast<int>(options.connections) : kServerConnections});
  if (!client) return pass(client.error());
  return runServerBench(**client, "http", options, [&](const BenchCase& bench) {
    return RawSide::connect(config, bench, options);
  });
}

}  // namespace mangrove::scheduler
