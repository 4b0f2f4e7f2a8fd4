#include "scheduler/bench/peer_bench.h"

#include <fmt/core.h>

#include "base/clock.h"
#include "client/bench_api/measured_child.h"
#include "client/http_api_client.h"
#include "client/informer.h"
#include "client/worker.h"
#include "json/value.h"
#include "scheduler/bench/bench_cluster.h"
#include "scheduler/bench/raw_case.h"
#include "scheduler/core/scheduler.h"

namespace mangrove::scheduler {

namespace {

constexpr Duration kLongest = std::chrono::minutes(10);
constexpr int kLongestSettling = 30;   // seconds
constexpr double kQuietSecond = 0.02;  // of processor time

double secondsBetween(MonoTime from, MonoTime to) {
  return std::chrono::duration<double>(to - from).count();
}

// Counts the pods of our namespace that have got a node.
class BoundPods {
 public:
  explicit BoundPods(client::ApiClient& client) {
    client::InformerSetup setup;
    setup.client = &client;
    setup.owner = &owner_;
    setup.home = &worker_.mailbox();
    setup.follow.kind = api::kind::kPod;
    setup.follow.ns = "default";
    setup.raw = client::RawKeep::kNone;
    informer_ = std::make_unique<client::Informer<api::Pod>>(std::move(setup));
    informer_->onChange([this](const client::Change<api::Pod>& change) {
      const bool before = change.before && !change.before->nodeName.empty();
      bound_ += !before && change.after && !change.after->nodeName.empty();
    });
    informer_->start();
  }

  size_t bound() const { return bound_; }
  size_t known() const { return informer_->size(); }
  // Until `count` pods are bound; false when that takes too long or `alive` says no.
  template <class Alive>
  bool await(size_t count, Alive alive) {
    const MonoTime limit = realClock().mono() + kLongest;
    while (bound_ < count) {
      owner_.runOne(std::chrono::milliseconds(20));
      if (realClock().mono() > limit || !alive()) return false;
    }
    return true;
  }
  void idle(Duration duration) {
    const MonoTime until = realClock().mono() + duration;
    while (realClock().mono() < until) owner_.runOne(std::chrono::milliseconds(20));
  }
  void awaitKnown(size_t count) {
    while (known() < count) owner_.runOne(std::chrono::milliseconds(20));
  }

 private:
  Mailbox owner_;
  client::Worker worker_;
  std::unique_ptr<client::Informer<api::Pod>> informer_;
  size_t bound_ = 0;
};

struct Moment {
  MonoTime at;
  double cpu = 0;
  size_t bound = 0;
};

class PeerBench {
 public:
  PeerBench(client::ApiClient& client, const client::ClientConfig& config, const BenchCase& bench,
            const BenchOptions& options, const PeerPlan& plan)
      : client_(client),
        config_(config),
        bench_(bench),
        options_(options),
        plan_(plan),
        cluster_(client, bench, options) {}

  Result<PeerResult> run() {
    auto result = measure();
    cluster_.remove();
    return result;
  }

 private:
  Result<PeerResult> measure() {
    if (auto ok = cluster_.createNodes(); !ok) return pass(ok.error());
    auto raw = measureRaw(config_, bench_, options_);
    if (!raw) return pass(raw.error());
    const size_t pods = cluster_.measuredPods();
    if (auto ok = cluster_.createPods(bench_.measured, "pod", pods); !ok) return pass(ok.error());
    BoundPods watch(client_);
    watch.awaitKnown(pods);
    const MonoTime exec = realClock().mono();
    auto child = client::MeasuredChild::start(plan_.command, plan_.logFile);
    if (!child) return pass(child.error());
    const auto alive = [&] { return (*child)->running(); };
    const auto reach = [&](size_t count, Moment& out) {
      if (!watch.await(count, alive)) return false;
      out = {realClock().mono(), (*child)->cpuSeconds(), watch.bound()};
      return true;
    };
    Moment first, warm, last;
    if (!reach(1, first) || !reach(std::max<size_t>(1, pods / 10), warm) || !reach(pods, last))
      return fail(mangrove::Code::kUnavailable, "{}: {} of {} pods bound when it {}; see {}",
                  plan_.name, watch.bound(), pods, alive() ? "was given up" : "ended",
                  plan_.logFile);
    PeerResult out;
    out.name = plan_.name;
    out.server = config_.server;
    out.nodes = cluster_.nodes();
    out.pods = pods;
    out.firstSeconds = secondsBetween(exec, first.at);
    const auto counted = static_cast<double>(std::max<size_t>(1, pods - warm.bound));
    out.perSecond = counted / std::max(secondsBetween(warm.at, last.at), 1e-9);
    out.rawPerSecond = raw->perSecond;
    out.cpuMicrosPerPod = (last.cpu - warm.cpu) * 1e6 / counted;
    out.cpuMicrosWithStart = last.cpu * 1e6 / static_cast<double>(pods);
    out.cpuMicrosSettled = (settled(watch, **child) - warm.cpu) * 1e6 / counted;
    out.peakMegabytes = static_cast<size_t>((*child)->peakBytes() >> 20);
    return out;
  }

  // Schedulers write events after the bindings they tell of: their work is done when they are
  // quiet.
  static double settled(BoundPods& watch, client::MeasuredChild& child) {
    double before = child.cpuSeconds();
    for (int second = 0; second < kLongestSettling; second++) {
      watch.idle(std::chrono::seconds(1));
      const double now = child.cpuSeconds();
      if (now - std::exchange(before, now) < kQuietSecond) break;
    }
    return before;
  }

  client::ApiClient& client_;
  const client::ClientConfig& config_;
  const BenchCase& bench_;
  const BenchOptions& options_;
  const PeerPlan& plan_;
  BenchCluster cluster_;
};

}  // namespace

Result<PeerResult> runPeerBench(const client::ClientConfig& config, const BenchOptions& options,
                                const PeerPlan& plan) {
  auto cases = casesOf(options);
  if (!cases) return pass(cases.error());
  net::Loop loop;
  auto client = client::HttpApiClient::make(loop, realClock(), config,
                                            {.perSecond = 0, .connections = kServerConnections});
  if (!client) return pass(client.error());
  return PeerBench(**client, config, *cases->front(), options, plan).run();
}

std::string peerTable(const std::vector<PeerResult>& results) {
  std::string out =
      fmt::format("{:<16} {:>6} {:>6} {:>8} {:>8} {:>8} {:>7} {:>10} {:>12} {:>12} {:>7}\n",
                  "scheduler", "nodes", "pods", "first s", "pods/s", "raw/s", "of raw",
                  "cpu us/pod", "until quiet", "with start", "RSS MB");
  for (const auto& r : results)
    out += fmt::format(
        "{:<16} {:>6} {:>6} {:>8.2f} {:>8.0f} {:>8.0f} {:>5.0f} % {:>10.0f} {:>12.0f} {:>12.0f} "
        "{:>7}\n",
        r.name, r.nodes, r.pods, r.firstSeconds, r.perSecond, r.rawPerSecond,
        100 * r.perSecond / std::max(r.rawPerSecond, 1e-9), r.cpuMicrosPerPod, r.cpuMicrosSettled,
        r.cpuMicrosWithStart, r.peakMegabytes);
  return out;
}

std::string peerJson(const std::vector<PeerResult>& results) {
  json::Array out;
  for (const auto& r : results)
    out.push_back(json::Object{{"scheduler", r.name},
                               {"server", r.server},
                               {"nodes", r.nodes},
                               {"pods", r.pods},
                               {"firstSeconds", r.firstSeconds},
                               {"podsPerSecond", r.perSecond},
                               {"rawBindingsPerSecond", r.rawPerSecond},
                               {"cpuMicrosPerPod", r.cpuMicrosPerPod},
                               {"cpuMicrosPerPodWithStart", r.cpuMicrosWithStart},
                               {"cpuMicrosPerPodSettled", r.cpuMicrosSettled},
                               {"peakRssMegabytes", r.peakMegabytes}});
  return json::writePretty(out) + "\n";
}

}  // namespace mangrove::scheduler
