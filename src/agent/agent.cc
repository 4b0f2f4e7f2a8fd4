#include "agent/agent.h"

#include <algorithm>
#include <cmath>

#include "api/koordinator/slo_defaults.h"
#include "base/os/code_pages.h"
#include "base/os/log.h"

namespace mangrove::agent {
namespace {

const Logger log("agent");

// Silent for so many periods, the tick is taken for dead.
constexpr int kDeadTicks = 30;
// Code that ticks do not need comes back with every report and every look at the metrics.
constexpr Duration kTrimEvery = std::chrono::seconds(5);

HistoryOptions historyOf(const AgentOptions& options, const Machine& machine) {
  HistoryOptions history;
  history.dir = options.historyDir;
  history.bootId = machine.bootId();
  history.hotPages = options.collect.coldPages;
  return history;
}

}  // namespace

NextTick nextTick(MonoTime planned, MonoTime now, Duration period) {
  const MonoTime next = planned + period;
  if (next > now) return {next, 0};
  const auto missed = static_cast<uint64_t>((now - planned) / period);
  return {planned + period * static_cast<int64_t>(missed + 1), missed};
}

Result<std::unique_ptr<Agent>> Agent::make(AgentSetup setup, AgentOptions options) {
  if (options.node.empty())
    return invalid("the node's name is not known: set --node-name or NODE_NAME");
  auto machine = Machine::open(options.machine);
  if (!machine) return pass(machine.error());
  const auto& can = (*machine)->can();
  options.collect.pressure &= can.has(kernel::Feature::kCgroupPressure);
  options.collect.coldPages &= can.has(kernel::Feature::kColdPages);
  options.collect.resctrl &= can.has(kernel::Feature::kResctrlMonitor);
  options.collect.cpi &= can.has(kernel::Feature::kPerfCounters);
  return std::unique_ptr<Agent>(new Agent(setup, std::move(options), *std::move(machine)));
}

Agent::Agent(AgentSetup setup, AgentOptions options, std::unique_ptr<Machine> machine)
    : setup_(setup),
      options_(std::move(options)),
      clock_(setup.clock),
      machine_(std::move(machine)),
      history_(History::open(historyOf(options_, *machine_), clock_.mono())),
      collector_(*machine_, clock_, history_, options_.collect),
      claims_(setup.client, setup.owner),
      predictor_(options_.predict),
      reporter_({setup.client, setup.owner, setup.clock, options_.node, options_.seed,
                 options_.report, options_.firstReport, options_.percentiles,
                 options_.reportEveryInterval}),
      topology_(setup.client, setup.owner, options_.node, options_.topology),
      devices_(setup.client, setup.owner, options_.node, options_.devices),
      kubelet_(setup.io, setup.owner, book_, &setup.internal, options_.kubelet),
      metrics_(setup.internal, setup.external, options_.node, clock_.wall()),
      known_(options_.configDir) {
  for (const std::string& trouble : history_.troubles())
    log.warn("history will not survive a restart: {}", trouble);
  if (history_.restored()) log.info("history restored: {} pods known", history_.pods().tracks());
  metrics_.capabilities(machine_->can());
  collector_.useClaims(&claims_.volumes());
  if (options_.rightUnits) metrics_.useRightUnits();
  slept_ = slept();
  if (options_.nodeMetricSeries)
    reporter_.onStatus([this](const api::NodeMetricStatus& s) { metrics_.status(s); });
  topology_.onDesired([this](const DesiredTopology& want) {
    metrics_.pools(want.sharedPool, want.bestEffortPool, options_.perCpuSeries);
  });
  makeInformers();
  recall();
}

Agent::~Agent() {
  stop();
  *self_ = nullptr;
}

client::InformerSetup Agent::following(const client::Kind& kind, std::string fieldSelector) const {
  client::InformerSetup follow;
  follow.client = &setup_.client;
  follow.owner = &setup_.owner;
  follow.home = &setup_.home;
  follow.clock = &setup_.clock;
  follow.follow.kind = kind;
  follow.follow.fieldSelector = std::move(fieldSelector);
  follow.raw = client::RawKeep::kNone;
  follow.seed = options_.seed;
  return follow;
}

void Agent::makeInformers() {
  const std::string byName = "metadata.name=" + options_.node;
  nodes_ = std::make_unique<client::Informer<api::Node>>(following(client::kind::kNode, byName));
  nodes_->onChange([this](const client::Change<api::Node>& change) {
    if (change.key != options_.node) return;
    node_ = change.after;
    recalledNode_ = false;
    reporter_.followNode(node_.get());
    if (node_) metrics_.nodeSeen(*node_), known_.keep(*node_);
  });
  slos_ =
      std::make_unique<client::Informer<api::NodeSlo>>(following(client::kind::kNodeSlo, byName));
  slos_->onChange([this](const client::Change<api::NodeSlo>& change) {
    if (change.key == options_.node) followSlo(change.after.get());
  });
  nodeMetrics_ = std::make_unique<client::Informer<api::NodeMetric>>(
      following(client::kind::kNodeMetric, byName));
  nodeMetrics_->onChange([this](const client::Change<api::NodeMetric>& change) {
    if (change.key != options_.node) return;
    reporter_.follow(change.after);
    collector_.countAppsWithCache(reporter_.policy().memory == MemoryPolicy::kWithCache);
    rememberWindows();
  });
  topologies_ = std::make_unique<client::Informer<api::NodeResourceTopology>>(
      following(client::kind::kNodeResourceTopology, byName));
  topologies_->onChange([this](const client::Change<api::NodeResourceTopology>& change) {
    if (change.key == options_.node) topology_.follow(change.after);
  });
  if (options_.devices.any()) {
    deviceObjects_ =
        std::make_unique<client::Informer<api::Device>>(following(client::kind::kDevice, byName));
    deviceObjects_->onChange([this](const client::Change<api::Device>& change) {
      if (change.key == options_.node) devices_.follow(change.after);
    });
  }
  if (!options_.watchPods) return;
  pods_ = std::make_unique<client::Informer<api::Pod>>(
      following(client::kind::kPod, "spec.nodeName=" + options_.node));
  pods_->onChange([this](const client::Change<api::Pod>& change) {
    const bool here = change.after && change.after->nodeName == options_.node;
    if (change.before && (!here || change.before->meta.uid != change.after->meta.uid))
      book_.remove(change.before->meta.uid.str());
    if (here) book_.put(change.after);
  });
}

// Strategies see it complete: nothing unset, and neutral values where a class is switched off.
void Agent::followSlo(const api::NodeSlo* said) {
  recalledSlo_ = false;
  if (said == nullptr) {
    known_.forgetSlo();
    return collector_.setSlo(nullptr);
  }
  known_.keep(said->spec);
  useSlo(*said);
}

void Agent::useSlo(api::NodeSlo slo) {
  slo.spec = api::completed(slo.spec);
  const auto& threshold = slo.spec.resourceUsedThresholdWithBe;
  evictWindow_ =
      std::chrono::seconds(threshold ? threshold->cpuEvictTimeWindowSeconds.value_or(0) : 0);
  rememberWindows();
  collector_.setSlo(std::make_shared<const api::NodeSlo>(std::move(slo)));
}

// What reports and evictors look back. What was more than a day ago is no shortage of now.
void Agent::rememberWindows() {
  const ReportPolicy& policy = reporter_.policy();
  const Duration longest = *std::max_element(policy.durations.begin(), policy.durations.end());
  history_.remember(std::max(longest, std::min<Duration>(evictWindow_, std::chrono::hours(24))),
                    policy.window);
}

// The server may be away: what it said last holds until it answers.
void Agent::recall() {
  if (auto slo = known_.slo()) {
    useSlo(*std::move(slo));
    recalledSlo_ = true;
  }
  if (auto node = known_.node(); node && node->meta.name.view() == options_.node) {
    node_ = std::make_shared<const api::Node>(*std::move(node));
    recalledNode_ = true;
  }
}

// It answered, and does not have the object any more: nothing told us so.
void Agent::endRecall() {
  if (recalledSlo_ && slos_->hasSynced() && !slos_->find(options_.node)) followSlo(nullptr);
  if (recalledNode_ && nodes_->hasSynced() && !nodes_->find(options_.node)) node_.reset();
  if (slos_->hasSynced()) recalledSlo_ = false;
  if (nodes_->hasSynced()) recalledNode_ = false;
}

bool Agent::knowsPods() const {
  return pods_ ? pods_->hasSynced() : kubelet_.synced();
}

void Agent::start() {
  running_ = true;
  nodes_->start();
  slos_->start();
  nodeMetrics_->start();
  if (options_.topology.enabled) topologies_->start();
  if (deviceObjects_) deviceObjects_->start();
  if (pods_) pods_->start();
  if (options_.machine.live)
    pressure_ = PressureWatch::start(*machine_, setup_.owner, [this](Pressing p) { stalled(p); });
  const Duration period = options_.collect.period;
  const Duration now = clock_.mono().time_since_epoch();
  next_ = MonoTime(now - now % period + period);
  arm();
}

void Agent::stop() {
  if (running_) predictor_.save();
  running_ = false;
  timer_.reset();
  pressure_.reset();
}

void Agent::stalled(Pressing what) {
  metrics_.stalled(what == Pressing::kCpu ? "cpu" : "memory");
  reporter_.stalled(clock_.mono());
}

std::optional<Duration> Agent::slept() const {
  const auto up = machine_->uptime();
  return up ? std::optional(*up - clock_.mono().time_since_epoch()) : std::nullopt;
}

void Agent::arm() {
  timer_ = clock_.at(next_, [self = self_, owner = &setup_.owner, planned = next_] {
    owner->post([self, planned] {
      if (*self != nullptr && (*self)->running_) (*self)->tick(planned);
    });
  });
}

void Agent::tick(MonoTime planned) {
  const MonoTime begun = clock_.mono();
  if (recalledSlo_ || recalledNode_) endRecall();
  const Look& look = collector_.tick(book_);
  watchClock(look);
  if (options_.collect.storage) claims_.tick(look);
  predictor_.tick(look);
  reporter_.tick(look, [&] { return predict(look); });
  watchKubelet(look);
  const uint64_t podsSeen = collector_.stats().podsSeen;
  kubelet_.tick(look.at, node_.get(), podsSeen - std::exchange(podsSeen_, podsSeen));
  topology_.tick(look, node_, kubelet_.config(), topologies_->hasSynced());
  if (deviceObjects_) devices_.tick(look, node_.get(), deviceObjects_->hasSynced());
  for (const auto& fn : onLook_) fn(look);
  const MonoTime ended = clock_.mono();
  lastTick_ = ended;
  const NextTick next = nextTick(planned, ended, options_.collect.period);
  metrics_.tick({ended - begun, begun - planned, next.missed}, look, collector_.stats(),
                reporter_.stats());
  // What only starting up (or a rare request) needed is given back.
  if (options_.trimMemory && ended - trimmedAt_ >= kTrimEvery) {
    trimmedAt_ = ended;
    releaseUnusedMemory();
  }
  if (!running_) return;
  next_ = next.at;
  arm();
}

// A kubelet with another configuration is another process.
void Agent::watchKubelet(const Look& look) {
  constexpr Duration kEvery = std::chrono::minutes(1);
  if (!kubelet_.connected()) return;
  if (kubeletLooked_ != MonoTime::min() && look.at - kubeletLooked_ < kEvery) return;
  kubeletLooked_ = look.at;
  if (!kubeletProcess_.restarted(machine_->root(), machine_->mounts())) return;
  log.info("the kubelet was restarted: its configuration is asked for again");
  kubelet_.askAgain();
}

// Rates use monotonic time and do not care; models are dated by the wall clock and do.
void Agent::watchClock(const Look& look) {
  constexpr Duration kJump = std::chrono::seconds(1);
  const Duration offset = std::chrono::duration_cast<Duration>(look.wall.time_since_epoch()) -
                          look.at.time_since_epoch();
  const auto before = std::exchange(wallOffset_, offset);
  if (!before || std::chrono::abs(offset - *before) <= kJump) return;
  metrics_.clockJumps().inc();
  predictor_.clockJumped();
  reporter_.clockJumped();
  const auto sleptBefore = std::exchange(slept_, slept());
  if (slept_ && sleptBefore && *slept_ - *sleptBefore > kJump) {
    // Monotonic time stood still meanwhile: the last minutes of our clock are not the last minutes.
    metrics_.suspensions().inc();
    history_.forget();
    log.warn("the machine was suspended for {} s; the history begins anew",
             std::chrono::duration_cast<std::chrono::seconds>(*slept_ - *sleptBefore).count());
    return;
  }
  log.warn("the wall clock was set by {} ms; this minute is not learnt from",
           std::chrono::duration_cast<std::chrono::milliseconds>(offset - *before).count());
}

Predicted Agent::predict(const Look& look) {
  const Reclaim reclaimed = predictor_.reclaim(look, node_.get());
  metrics_.prediction(reclaimed);
  Predicted out;
  if (reclaimed.reclaimable) out.reclaimable = resourcesOf(*reclaimed.reclaimable);
  if (reclaimed.peak) out.peak = resourcesOf(*reclaimed.peak);
  return out;
}

Result<> Agent::liveness() const {
  if (lastTick_ == MonoTime::min()) return {};
  const Duration silent = clock_.mono() - lastTick_;
  if (silent > options_.collect.period * kDeadTicks + std::chrono::seconds(30))
    return fail(Code::kUnavailable, "no tick for {} s",
                std::chrono::duration_cast<std::chrono::seconds>(silent).count());
  return {};
}

Result<> Agent::readiness() const {
  if (lastTick_ == MonoTime::min()) return fail(Code::kUnavailable, "no tick yet");
  const auto synced = [](const auto& informer, const char* what) -> Result<> {
    if (!informer || informer->hasSynced()) return {};
    const auto trouble = informer->trouble();
    return fail(Code::kUnavailable, "{} not read yet{}{}", what, trouble ? ": " : "",
                trouble ? trouble->text() : "");
  };
  for (const Result<>& one : {synced(nodes_, "Node"), synced(slos_, "NodeSLO"),
                              synced(nodeMetrics_, "NodeMetric"), synced(pods_, "pods")})
    if (!one) return one;
  if (!kubelet_.synced()) return fail(Code::kUnavailable, "the kubelet has not named its pods yet");
  return {};
}

}  // namespace mangrove::agent
