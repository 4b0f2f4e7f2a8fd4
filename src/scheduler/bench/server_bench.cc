#include "scheduler/bench/server_bench.h"

#include <fmt/core.h>

#include "base/clock.h"
#include "base/log.h"
#include "client/http_api_client.h"
#include "scheduler/bench/bench_cluster.h"
#include "scheduler/core/engine.h"
#include "scheduler/core/scheduler.h"

namespace mangrove::scheduler {

namespace {

const Logger log("bench");

constexpr Duration kLongest = std::chrono::minutes(10);

class ServerBench {
 public:
  ServerBench(client::ApiClient& client, std::string_view mode, const BenchCase& bench,
              const BenchOptions& options, const RawRate& raw)
      : client_(client),
        mode_(mode),
        bench_(bench),
        options_(options),
        raw_(raw),
        cluster_(client, bench, options) {}

  Result<BenchResult> run() {
    auto result = compare();
    cluster_.remove();
    return result;
  }

 private:
  // The raw rate is that before and after, so that a machine which slows down meanwhile counts for
  // both.
  Result<BenchResult> compare() {
    if (auto ok = cluster_.createNodes(); !ok) return pass(ok.error());
    const auto raw = [this] { return raw_ ? raw_(bench_) : Result<RawResult>(RawResult{}); };
    const auto before = raw();
    if (!before) return pass(before.error());
    auto result = fill();
    if (scheduler_) stop();
    if (!result) return result;
    const auto after = raw();
    if (!after) return pass(after.error());
    result->rawPerSecond = (before->perSecond + after->perSecond) / 2;
    result->rawCpuMicros = (before->cpuMicros + after->cpuMicros) / 2;
    return result;
  }

  Result<BenchResult> fill() {
    // Objects are read by the owner, as in the role.
    auto made = Scheduler::make(
        {client_, realClock(), owner_, owner_, registry_, defaultConfig({options_.schedulerName})});
    if (!made) return pass(made.error());
    scheduler_ = std::move(*made);
    scheduler_->start();
    scheduler_->setActive(true);
    CounterFamily& attempts = scheduler_->engine().metrics().scheduleAttempts;
    scheduled_ = attempts.with({"scheduled", options_.schedulerName});
    refused_ = attempts.with({"unschedulable", options_.schedulerName});
    return schedule();
  }

  Result<BenchResult> schedule() {
    const size_t first = cluster_.firstPods(), measured = cluster_.measuredPods();
    if (auto ok = cluster_.createPods(bench_.first, "first", first); !ok) return pass(ok.error());
    const size_t placeable = bench_.first == BenchPod::kTooLarge ? 0 : first;
    if (auto ok = until([&] { return bound() >= placeable && synced(); }, "first pods"); !ok)
      return pass(ok.error());
    scheduler_->setActive(false);
    if (auto ok = cluster_.createPods(bench_.measured, "pod", measured); !ok)
      return pass(ok.error());
    const size_t waiting = first - placeable + measured;
    if (auto ok = until([&] { return queued() >= waiting; }, "pods in the queue"); !ok)
      return pass(ok.error());
    return measure(measured, first, placeable);
  }

  Result<BenchResult> measure(size_t measured, size_t first, size_t before) {
    Burst churn(client_);
    scheduler_->setActive(true);
    const auto reached = [&](size_t wanted) {
      return [&, wanted] {
        const size_t now = bound() - before;
        if (bench_.churn) churnUpTo(now / kChurnEvery, churn);
        return now >= wanted;
      };
    };
    // The first tenth is not counted, as in the raw rate: it goes in while caches fill and the pods
    // are listed once more. Pods that preempt are bound at the very end, after all their other
    // writes: there everything counts from the first decision on.
    const bool preempts = bench_.measured == BenchPod::kHighPriority;
    const double decided = refused_.value();
    if (auto ok = preempts ? until([&] { return refused_.value() > decided; }, "the first decision")
                           : until(reached(measured / 10), "the first tenth");
        !ok)
      return pass(ok.error());
    const size_t from = bound() - before;
    const double cpu = processorSeconds();
    const MonoTime start = realClock().mono();
    if (auto ok = until(reached(measured), "measured pods"); !ok) return pass(ok.error());
    const auto counted = static_cast<double>(measured - from);
    BenchResult out;
    out.seconds = std::chrono::duration<double>(realClock().mono() - start).count();
    out.cpuMicrosPerPod = (processorSeconds() - cpu) * 1e6 / counted;
    out.name = bench_.name;
    out.mode = mode_;
    out.nodes = cluster_.nodes();
    out.firstPods = first;
    out.pods = out.scheduled = measured;
    out.perSecond = counted / out.seconds;
    out.rssMegabytes = peakMegabytes();
    if (auto ok = churn.finish(); !ok) return ok.error().in("churn");
    return out;
  }

  // A node comes and the one before it goes, as in the public benchmark's churn.
  void churnUpTo(size_t turn, Burst& burst) {
    for (; churned_ < turn; churned_++) {
      burst.send(creation(api::kind::kNode, "", nodeJson(bench_, kFirstChurnedNode + churned_)));
      if (churned_ > 0) burst.send(removal(churned_ - 1));
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
  std::string mode_;
  const BenchCase& bench_;
  const BenchOptions& options_;
  const RawRate& raw_;
  BenchCluster cluster_;
  Registry registry_;
  Mailbox owner_;
  std::unique_ptr<Scheduler> scheduler_;
  Counter scheduled_, refused_;
  size_t churned_ = 0;
};

}  // namespace

Result<std::vector<BenchResult>> runServerBench(client::ApiClient& client, std::string_view mode,
                                                const BenchOptions& options, const RawRate& raw) {
  auto cases = casesOf(options);
  if (!cases) return pass(cases.error());
  std::vector<BenchResult> out;
  for (const BenchCase* bench : *cases) {
    forgetPeak();
    auto result = ServerBench(client, mode, *bench, options, raw).run();
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
  return runServerBench(**client, "http", options,
                        [&](const BenchCase& bench) { return measureRaw(config, bench, options); });
}

}  // namespace mangrove::scheduler
