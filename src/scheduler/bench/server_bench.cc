#include "scheduler/bench/server_bench.h"

#include <condition_variable>
#include <mutex>

#include <fmt/core.h>

#include "base/time_text.h"
#include "client/worker.h"
#include "scheduler/bench/cases.h"
#include "scheduler/core/engine.h"
#include "scheduler/core/scheduler.h"

namespace mangrove::scheduler {

namespace {

constexpr Duration kLongest = std::chrono::minutes(10);

// Many requests at once, and the first thing that went wrong.
class Burst {
 public:
  explicit Burst(client::ApiClient& client) : client_(client) {}

  void send(client::Request request) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return open_ < kMost; });
    open_++;
    lock.unlock();
    client_.submit(std::move(request), [this](Result<client::Reply> reply) {
      std::lock_guard guard(mutex_);
      if (!reply && reply.error().code() != mangrove::Code::kExists && !trouble_)
        trouble_ = reply.error();
      open_--;
      room_.notify_all();
    });
  }
  Result<> finish() {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return open_ == 0; });
    if (trouble_) return pass(*trouble_);
    return {};
  }

 private:
  static constexpr int kMost = 200;
  client::ApiClient& client_;
  std::mutex mutex_;
  std::condition_variable room_;
  int open_ = 0;
  std::optional<Error> trouble_;
};

client::Request creation(const api::Kind& kind, std::string_view ns, std::string body) {
  client::Request request;
  request.verb = client::Verb::kCreate;
  request.ref = {kind, std::string(ns), ""};
  request.body = std::move(body);
  request.timeout = std::chrono::minutes(2);
  return request;
}

class ServerBench {
 public:
  ServerBench(client::ApiClient& client, std::string_view mode, const BenchCase& bench,
              const BenchOptions& options)
      : client_(client), mode_(mode), bench_(bench), options_(options) {}

  Result<BenchResult> run() {
    const auto nodes = static_cast<size_t>(options_.nodes);
    const bool large = nodes > 1000;
    const size_t first = large ? bench_.firstLarge : bench_.firstSmall;
    const size_t measured = options_.pods > 0 ? static_cast<size_t>(options_.pods)
                            : large           ? bench_.measuredLarge
                                              : bench_.measuredSmall;
    if (auto ok = createNodes(nodes); !ok) return pass(ok.error());
    auto made = Scheduler::make({client_, realClock(), owner_, worker_.mailbox(), registry_,
                                 defaultConfig({"koord-scheduler"})});
    if (!made) return pass(made.error());
    scheduler_ = std::move(*made);
    scheduler_->start();
    scheduler_->setActive(true);
    if (auto ok = createPods(bench_.first, "first", first); !ok) return pass(ok.error());
    const size_t placeable = bench_.first == BenchPod::kTooLarge ? 0 : first;
    if (auto ok = until([&] { return bound() >= placeable && synced(nodes); }, "first pods"); !ok)
      return pass(ok.error());
    scheduler_->setActive(false);
    if (auto ok = createPods(bench_.measured, "pod", measured); !ok) return pass(ok.error());
    const size_t waiting = first - placeable + measured;
    if (auto ok = until([&] { return queued() >= waiting; }, "pods in the queue"); !ok)
      return pass(ok.error());
    auto result = measure(measured, first, placeable);
    cleanUp(nodes, first, measured);
    return result;
  }

 private:
  Result<BenchResult> measure(size_t measured, size_t first, size_t before) {
    const double cpu = processorSeconds();
    const MonoTime start = realClock().mono();
    scheduler_->setActive(true);
    if (auto ok = until([&] { return bound() >= before + measured; }, "measured pods"); !ok)
      return pass(ok.error());
    BenchResult out;
    out.name = bench_.name;
    out.mode = mode_;
    out.nodes = static_cast<size_t>(options_.nodes);
    out.firstPods = first;
    out.pods = out.scheduled = measured;
    out.seconds = std::chrono::duration<double>(realClock().mono() - start).count();
    out.perSecond = static_cast<double>(measured) / out.seconds;
    out.cpuMicrosPerPod = (processorSeconds() - cpu) * 1e6 / static_cast<double>(measured);
    out.rssMegabytes = peakMegabytes();
    return out;
  }

  size_t bound() {
    auto& attempts = scheduler_->engine().metrics().scheduleAttempts;
    return static_cast<size_t>(attempts.with({"scheduled", "koord-scheduler"}).value());
  }
  size_t queued() {
    const auto sizes = scheduler_->engine().queue().sizes();
    return sizes.active + sizes.backoff + sizes.pool;
  }
  bool synced(size_t nodes) {
    return scheduler_->synced() && scheduler_->engine().cluster().table.size() >= nodes;
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

  Result<> createNodes(size_t nodes) {
    Burst burst(client_);
    const std::string now = formatTime(realClock().wall());
    for (size_t i = 0; i < nodes; i++) {
      burst.send(creation(api::kind::kNode, "", nodeJson(bench_, i)));
      if (options_.withMetrics && bench_.measured != BenchPod::kHighPriority)
        burst.send(creation(api::kind::kNodeMetric, "", metricJson(i, now)));
    }
    if (auto ok = burst.finish(); !ok) return ok;
    // Servers keep what a kubelet says apart from what is created.
    Burst status(client_);
    for (size_t i = 0; i < nodes; i++) {
      const std::string name = fmt::format("node-{}", i);
      status.send(client::patchRequest({api::kind::kNode, "", name, "status"},
                                       client::PatchType::kMerge, nodeJson(bench_, i)));
      if (options_.withMetrics && bench_.measured != BenchPod::kHighPriority)
        status.send(client::patchRequest({api::kind::kNodeMetric, "", name, "status"},
                                         client::PatchType::kMerge, metricJson(i, now)));
    }
    return status.finish();
  }

  Result<> createPods(BenchPod kind, std::string_view name, size_t count) {
    Burst burst(client_);
    for (size_t i = 0; i < count; i++)
      burst.send(creation(api::kind::kPod, "default",
                          podJson(kind, name, i, static_cast<size_t>(options_.nodes))));
    return burst.finish();
  }

  void cleanUp(size_t nodes, size_t first, size_t measured) {
    scheduler_->setActive(false);
    Burst burst(client_);
    client::DeleteOptions now;
    now.gracePeriodSeconds = 0;
    const auto erase = [&](const api::Kind& kind, std::string ns, std::string name) {
      burst.send(client::deleteRequest({kind, std::move(ns), std::move(name)}, now));
    };
    for (size_t i = 0; i < first; i++)
      erase(api::kind::kPod, "default", fmt::format("first-{}", i));
    for (size_t i = 0; i < measured; i++)
      erase(api::kind::kPod, "default", fmt::format("pod-{}", i));
    for (size_t i = 0; i < nodes; i++) {
      erase(api::kind::kNode, "", fmt::format("node-{}", i));
      if (options_.withMetrics) erase(api::kind::kNodeMetric, "", fmt::format("node-{}", i));
    }
    (void)burst.finish();
    scheduler_.reset();
  }

  client::ApiClient& client_;
  std::string mode_;
  const BenchCase& bench_;
  const BenchOptions& options_;
  Registry registry_;
  Mailbox owner_;
  client::Worker worker_;
  std::unique_ptr<Scheduler> scheduler_;
};

}  // namespace

Result<std::vector<BenchResult>> runServerBench(client::ApiClient& client, std::string_view mode,
                                                const BenchOptions& options) {
  auto cases = casesOf(options);
  if (!cases) return pass(cases.error());
  std::vector<BenchResult> out;
  for (const BenchCase* bench : *cases) {
    auto result = ServerBench(client, mode, *bench, options).run();
    if (!result) return result.error().in("{}", bench->name);
    out.push_back(std::move(*result));
  }
  return out;
}

}  // namespace mangrove::scheduler
