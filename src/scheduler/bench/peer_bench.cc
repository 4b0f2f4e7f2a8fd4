#include "scheduler/bench/peer_bench.h"

#include <fmt/core.h>

#include "base/clock.h"
#include "base/text/time_text.h"
#include "client/bench/api/measured_child.h"
#include "client/http/http_api_client.h"
#include "client/informer/informer.h"
#include "client/queue/worker.h"
#include "json/value.h"
#include "scheduler/bench/bench_cluster.h"
#include "scheduler/bench/raw_case.h"
#include "scheduler/scheduler.h"

namespace mangrove::scheduler {

namespace {

constexpr Duration kLongest = std::chrono::minutes(10);
constexpr int kLongestSettling = 20;   // seconds
constexpr double kQuietSecond = 0.02;  // of processor time
constexpr size_t kLeastPods = 200;     // of a turn
constexpr uint64_t kSeed = 1;

double secondsBetween(MonoTime from, MonoTime to) {
  return std::chrono::duration<double>(to - from).count();
}

// Counts the pods of our namespace that have got a node. It follows those of all namespaces, so
// that a raw binding is watched by as many as one of the scheduler's.
class BoundPods {
 public:
  explicit BoundPods(client::ApiClient& client) {
    client::InformerSetup setup;
    setup.client = &client;
    setup.owner = &owner_;
    setup.home = &worker_.mailbox();
    setup.follow.kind = api::kind::kPod;
    setup.raw = client::RawKeep::kNone;
    informer_ = std::make_unique<client::Informer<api::Pod>>(std::move(setup));
    informer_->onChange([this](const client::Change<api::Pod>& change) {
      const auto& pod = change.after ? change.after : change.before;
      if (pod->meta.ns.view() != "default") return;
      known_ += !change.before;
      const bool before = change.before && !change.before->nodeName.empty();
      bound_ += !before && change.after && !change.after->nodeName.empty();
    });
    informer_->start();
  }

  size_t bound() const { return bound_; }
  // Until `count` pods are bound; false when that takes too long or `alive` says no.
  template <class Alive>
  bool await(size_t count, MonoTime limit, Alive alive) {
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
    while (known_ < count) owner_.runOne(std::chrono::milliseconds(20));
  }

 private:
  Mailbox owner_;
  client::Worker worker_;
  std::unique_ptr<client::Informer<api::Pod>> informer_;
  size_t known_ = 0, bound_ = 0;
};

struct Moment {
  MonoTime at;
  double cpu = 0;
  size_t bound = 0;
};

class PeerBench {
 public:
  PeerBench(client::ApiClient& client, RawSide& raw, const BenchCase& bench,
            const BenchOptions& options, const PeerPlan& plan)
      : raw_(raw), bench_(bench), plan_(plan), cluster_(client, bench, options), watch_(client) {}

  Result<PeerResult> run() {
    auto result = measure();
    child_.reset();
    cluster_.remove();
    return result;
  }

 private:
  Result<PeerResult> measure() {
    PeerResult out;
    if (auto ok = cluster_.createNodes(); !ok) return pass(ok.error());
    if (auto ok = fromStart(out); !ok) return pass(ok.error());
    if (out.bound < out.pods) return out;
    const size_t pods = std::max(kLeastPods, cluster_.measuredPods() / 10);
    const auto turns = takeTurns(
        std::vector(static_cast<size_t>(plan_.turns), pods),
        [this](size_t count) { return rawSlice(count); },
        [this](size_t count) { return slice(count); }, kSeed);
    if (!turns) return pass(turns.error());
    out.rawPerSecond = rateOf(turns->raw);
    out.shareOfRaw = shareOf(*turns);
    out.peakMegabytes = static_cast<size_t>(child_->peakBytes() >> 20);
    return out;
  }

  // All pods wait before it starts. The rate and the processor time are those of the last nine
  // tenths, so that filling the caches is not counted.
  Result<> fromStart(PeerResult& out) {
    const size_t pods = cluster_.measuredPods();
    if (bench_.first == BenchPod::kQuotaBlocked) {
      if (auto ok = cluster_.createPods(bench_.first, "first", cluster_.firstPods()); !ok)
        return ok;
      blocked_ = cluster_.firstPods();
    }
    if (auto ok = createPods(pods); !ok) return ok;
    const MonoTime exec = realClock().mono();
    auto child = client::MeasuredChild::start(plan_.command, plan_.logFile);
    if (!child) return pass(child.error());
    child_ = std::move(*child);
    const MonoTime limit = exec + plan_.patience;
    const auto first = reach(1, limit);
    if (!first) return pass(first.error());
    auto warm = reach(std::max<size_t>(1, pods / 10), limit);
    if (!warm && isStillAtIt(*first)) warm = *first;  // far too slow: all it did is the figure
    if (!warm) return pass(warm.error());
    auto last = reach(pods, limit);
    const bool isCutOff = !last && isStillAtIt(*warm);
    if (isCutOff) last = now();
    if (!last) return pass(last.error());
    out.name = plan_.name;
    out.nodes = cluster_.nodes();
    out.pods = pods;
    out.bound = last->bound;
    out.peakMegabytes = static_cast<size_t>(child_->peakBytes() >> 20);
    out.firstSeconds = secondsBetween(exec, first->at);
    const auto counted = static_cast<double>(std::max<size_t>(1, last->bound - warm->bound));
    out.perSecond = counted / std::max(secondsBetween(warm->at, last->at), 1e-9);
    out.cpuMicrosPerPod = (last->cpu - warm->cpu) * 1e6 / counted;
    out.cpuMicrosWithStart = last->cpu * 1e6 / static_cast<double>(last->bound);
    if (!isCutOff) settle();
    out.cpuMicrosSettled = (child_->cpuSeconds() - warm->cpu) * 1e6 / counted;
    return {};
  }

  // The scheduler sleeps; what its watch brings waits in the socket, and is read before it is
  // measured again.
  Result<Slice> rawSlice(size_t pods) {
    child_->pause();
    auto taken = raw_.slice(pods);
    settle();
    return taken;
  }

  Result<Slice> slice(size_t pods) {
    child_->pause();
    if (auto ok = createPods(pods); !ok) return pass(ok.error());
    const MonoTime start = realClock().mono();
    child_->resume();
    const auto last = reach(made_, start + kLongest);
    if (!last) return pass(last.error());
    settle();
    return Slice{.pods = pods, .seconds = secondsBetween(start, last->at)};
  }

  Result<> createPods(size_t pods) {
    if (auto ok = cluster_.createPods(bench_.measured, "pod", pods); !ok) return ok;
    made_ += pods;
    watch_.awaitKnown(made_ + blocked_);
    return {};
  }

  bool isStillAtIt(const Moment& since) const {
    return child_->running() && watch_.bound() > since.bound;
  }
  Moment now() const { return {realClock().mono(), child_->cpuSeconds(), watch_.bound()}; }

  Result<Moment> reach(size_t bound, MonoTime limit) {
    if (watch_.await(bound, limit, [this] { return child_->running(); })) return now();
    return fail(mangrove::Code::kUnavailable, "{}: {} of {} pods bound when it {}; see {}",
                plan_.name, watch_.bound(), made_, child_->running() ? "was given up" : "ended",
                plan_.logFile);
  }

  // Schedulers write events after the bindings they tell of: their work is done when they are
  // quiet.
  void settle() {
    child_->resume();
    double before = child_->cpuSeconds();
    for (int second = 0; second < kLongestSettling; second++) {
      watch_.idle(std::chrono::seconds(1));
      const double now = child_->cpuSeconds();
      if (now - std::exchange(before, now) < kQuietSecond) break;
    }
  }

  RawSide& raw_;
  const BenchCase& bench_;
  const PeerPlan& plan_;
  BenchCluster cluster_;
  BoundPods watch_;
  std::unique_ptr<client::MeasuredChild> child_;
  size_t made_ = 0;     // pods
  size_t blocked_ = 0;  // pods that must stay without a node, in a case that has them
};

}  // namespace

Result<PeerResult> runPeerBench(const client::ClientConfig& config, const BenchOptions& options,
                                const PeerPlan& plan) {
  if (plan.turns < 0) return invalid("--turns {}: want 0 or more", plan.turns);
  if (plan.patience <= Duration::zero())
    return invalid("--patience {}: want more than 0", formatDuration(plan.patience));
  auto cases = casesOf(options);
  if (!cases) return pass(cases.error());
  net::Loop loop;
  auto client = client::HttpApiClient::make(loop, realClock(), config,
                                            {.perSecond = 0, .connections = kServerConnections});
  if (!client) return pass(client.error());
  auto raw = RawSide::connect(config, *cases->front(), options);
  if (!raw) return pass(raw.error());
  auto result = PeerBench(**client, **raw, *cases->front(), options, plan).run();
  if (result) result->server = config.server;
  return result;
}

namespace {

std::string cutOffText(const PeerResult& result) {
  if (result.bound >= result.pods) return "";
  return fmt::format("{}: given up with {} of {} pods bound; its figures are of those\n",
                     result.name, result.bound, result.pods);
}

}  // namespace

std::string peerTable(const std::vector<PeerResult>& results) {
  std::string out =
      fmt::format("{:<16} {:>6} {:>6} {:>8} {:>8} {:>8} {:>14} {:>10} {:>12} {:>12} {:>7}\n",
                  "scheduler", "nodes", "pods", "first s", "pods/s", "raw/s", "of raw",
                  "cpu us/pod", "until quiet", "with start", "RSS MB");
  for (const auto& r : results)
    out += fmt::format(
               "{:<16} {:>6} {:>6} {:>8.2f} {:>8.0f} {:>8.0f} {:>14} {:>10.0f} {:>12.0f} {:>12.0f} "
               "{:>7}\n",
               r.name, r.nodes, r.pods, r.firstSeconds, r.perSecond, r.rawPerSecond,
               shareText(r.shareOfRaw), r.cpuMicrosPerPod, r.cpuMicrosSettled, r.cpuMicrosWithStart,
               r.peakMegabytes) +
           cutOffText(r);
  return out;
}

std::string peerJson(const std::vector<PeerResult>& results) {
  json::Array out;
  for (const auto& r : results)
    out.push_back(json::Object{{"scheduler", r.name},
                               {"server", r.server},
                               {"nodes", r.nodes},
                               {"pods", r.pods},
                               {"bound", r.bound},
                               {"firstSeconds", r.firstSeconds},
                               {"podsPerSecond", r.perSecond},
                               {"rawBindingsPerSecond", r.rawPerSecond},
                               {"shareOfRaw", shareJson(r.shareOfRaw)},
                               {"cpuMicrosPerPod", r.cpuMicrosPerPod},
                               {"cpuMicrosPerPodWithStart", r.cpuMicrosWithStart},
                               {"cpuMicrosPerPodSettled", r.cpuMicrosSettled},
                               {"peakRssMegabytes", r.peakMegabytes}});
  return json::writePretty(out) + "\n";
}

}  // namespace mangrove::scheduler
