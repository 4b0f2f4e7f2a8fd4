#include "agent/qos/enforcement.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "agent/executor/kill.h"
#include "agent/executor/owners.h"
#include "agent/gates.h"
#include "base/os/log.h"

namespace mangrove::agent {
namespace {

const Logger log("enforcement");

// What /enforcement shows is made anew this often, and whenever something was written.
constexpr Duration kShowEvery = std::chrono::seconds(5);

// The process's gates and those of the hooks, which have a flag of their own.
FeatureGates allGates(const FeatureGates& process, const EnforcementOptions& options) {
  std::vector<GateInfo> known = process.known();
  for (const GateInfo& one : hookGates()) known.push_back(one);
  FeatureGates gates(known);
  for (const std::string& said : {process.summary(), options.hooks, options.extensions})
    if (auto ok = gates.set(said); !ok) log.warn("gates: {}", ok.error().text());
  if (options.keepsQuota) (void)gates.set("UnsetCPUQuota=false");
  return gates;
}

StrategyOptions sharing(StrategyOptions options, std::shared_ptr<EvictedLately> lately,
                        std::shared_ptr<InterferenceBoard> board) {
  options.lately = std::move(lately);
  options.interference = std::move(board);
  return options;
}

// The pause after evictions outlives a killed agent in the state file of the strategies.
class PauseMemory final : public Strategy {
 public:
  explicit PauseMemory(EvictionPause& pause) : pause_(pause) {}
  StrategyInfo info() const override { return {.name = "eviction-pause"}; }
  Wishes decide(const Situation&) override { return {}; }
  json::Value state() const override { return pause_.state(); }
  void restore(const json::Value& state) override { pause_.restore(state); }

 private:
  EvictionPause& pause_;
};

// So does the count of who was evicted today.
class TallyMemory final : public Strategy {
 public:
  explicit TallyMemory(std::shared_ptr<EvictedLately> lately) : lately_(std::move(lately)) {}
  StrategyInfo info() const override { return {.name = "eviction-tally"}; }
  Wishes decide(const Situation&) override { return {}; }
  json::Value state() const override { return lately_->tally().state(); }
  void restore(const json::Value& state) override { lately_->tally().restore(state); }

 private:
  std::shared_ptr<EvictedLately> lately_;
};

}  // namespace

static const PauseOptions kCraneBlock{.effect = "PreferNoSchedule",
                                      .taint = kCraneTaint,
                                      .condition = kCraneCondition,
                                      .reason = "WatermarkCrossed"};

Enforcement::Enforcement(const EnforcementSetup& setup, EnforcementOptions options)
    : agent_(setup.agent),
      clock_(setup.clock),
      metrics_(setup.metrics),
      series_(std::make_shared<EnforceMetrics>(setup.metrics, setup.agent.options().node)),
      options_(std::move(options)),
      gates_(allGates(setup.gates, options_)),
      events_(setup.client, setup.home, setup.clock,
              {.component = "koordlet-qosManager", .host = setup.agent.options().node}),
      checkpoints_({setup.client, setup.owner, setup.clock, events_, shown_->audit, setup.metrics,
                    setup.agent.machine(), setup.io}),
      sender_({setup.client, setup.owner, setup.clock, events_, shown_->audit, setup.metrics,
               [this](const Ousting& one, EvictionAnswer answer) { answered(one, answer); },
               [this](const Ousting& one) {
                 return !gates_.on(kCheckpointGate) || checkpoints_.mayGo(one);
               }},
              {.perMinute = options_.evictionsPerMinute}),
      lastResort_(options_.killWhenApiAway),
      nodePause_({setup.client, setup.owner, setup.clock, events_},
                 {.effect = options_.cooldownTaint}),
      reporter_(setup.client, setup.owner),
      latency_(setup.io
                   ? std::make_unique<LatencyWatch>(*setup.io, setup.owner, setup.clock, board_)
                   : nullptr),
      fences_(setup.client, setup.owner, board_, setup.agent.options().node),
      pairs_(setup.client, setup.owner),
      craneBlock_({setup.client, setup.owner, setup.clock, events_}, kCraneBlock),
      reflexes_({setup.agent, setup.owner, setup.clock, setup.metrics, gates_, shown_->audit,
                 [this](const Ousting& one) {
                   if (sender_.evict(one)) lately_->add(one.pod->meta.uid.str(), clock_.mono());
                 },
                 [this] { tick(agent_.look()); },
                 [this](const MemoryCap& cap) {
                   enforcer_->adopt({cap.cgroup, cap.resource}, FileValue::of(cap.most.v),
                                    FileValue::of(cap.before), owner::kGiveBack);
                 },
                 lately_},
                options_.reflexes, options_.enforcer) {
  auto strategies = defaultStrategies(sharing(options_.strategies, lately_, board_));
  reflexes_.join(strategies);
  strategies.push_back(std::make_unique<PauseMemory>(pause_));
  strategies.push_back(std::make_unique<TallyMemory>(lately_));
  enforcer_ = std::make_unique<Enforcer>(
      EnforcerSetup{agent_.machine(), clock_, gates_, shown_->audit,
                    [this](const Ousting& one) { return sender_.evict(one); },
                    options_.isLive ? DeedTools{&cookies_, &shaper_} : DeedTools{},
                    [series = series_](const WriteDone& done) { series->wrote(done); }},
      options_.enforcer, std::move(strategies));
  reflexes_.adoptGuarded();
  writes_ = WriteWatch::start(agent_.machine(), setup.owner, [this] { repair(); });
  if (options_.nri && setup.io != nullptr) hearRuntime(*setup.io, setup.owner);
  agent_.onLook([this, alive = alive_](const Look& look) {
    if (*alive) tick(look);
  });
  if (setup.ops != nullptr) serve(*setup.ops);
}

void Enforcement::hearRuntime(net::Loop& io, Mailbox& owner) {
  NriOptions nri = *options_.nri;
  nri.onPod = [this](const NriPod& pod) { podBegan(pod); };
  nri.onContainer = [this](const NriPod& pod, const NriContainer& container) {
    containerBegan(pod, container);
  };
  nri_ = std::make_unique<NriService>(NriContext{io, clock_, owner, series_}, std::move(nri));
}

Enforcement::~Enforcement() {
  *alive_ = false;
  nri_.reset();
  writes_.reset();
  reflexes_.stop();
  const ApplyReport report = enforcer_->leave("the agent leaves");
  if (report.files > 0)
    log.info("gave {} of {} files back, {} failed", report.written, report.files, report.failed);
}

void Enforcement::tick(const Look& look) {
  const auto node = agent_.node();
  const auto topology = agent_.topology();
  // Reflexes write by themselves: they are still before the enforcer gives files back.
  if (isSwitchedOff(node.get())) reflexes_.rest();
  if (latency_) latency_->follow(look);
  const ApplyReport report = enforcer_->tick(look, node.get(), topology.get(), agent_.knowsPods());
  count(report);
  if (gates_.on(kCheckpointGate) && options_.isLive && !enforcer_->isOff() &&
      !options_.enforcer.dryRun)
    checkpoints_.carry(look);
  metrics_
      .gauges("mangrove_agent_control_files_missing",
              "Control files that a strategy wants and this kernel or cgroup does not have.")
      .with({})
      .set(static_cast<double>(report.missing));
  writes_->follow(enforcer_->executor());
  if (node) series_->tick(look, enforcer_->executor(), shown_->audit);
  reflexes_.afterTick(look, node.get(), enforcer_->isOff());
  keepPause(look, node.get());
  tellBlind(node.get());
  tellInterference(node.get());
  watchIsolation(node.get());
  publishRules(look, node.get(), topology.get());
  show(look, report);
}

// Somebody else wrote to files of ours.
void Enforcement::repair() {
  const std::vector<FileKey> written = writes_->written();
  const ApplyReport report = enforcer_->repair(written);
  if (report.files == 0) return;
  count(report);
  writes_->follow(enforcer_->executor());
}

void Enforcement::publishRules(const Look& look, const api::Node* node,
                               const api::NodeResourceTopology* topology) {
  if (!nri_) return;
  auto rules = std::make_shared<HookRules>();
  if (!enforcer_->isOff() && !options_.enforcer.dryRun)
    *rules = hookRules({look, node, topology ? &topology->meta.annotations : nullptr,
                        enforcer_->picture(), gates_},
                       options_.hamiLibrary);
  nri_->publish(std::move(rules));
}

void Enforcement::show(const Look& look, const ApplyReport& report) {
  const bool due = shownAt_ == MonoTime::min() || look.at - shownAt_ >= kShowEvery;
  if (!due && report.written == 0) return;
  shownAt_ = look.at;
  json::Value told = enforcer_->explain();
  if (nri_) told.get_object()["nri"] = nri_->state();
  std::string text = json::write(told);
  std::lock_guard lock(shown_->mutex);
  shown_->explanation = std::move(text);
}

// The pod that was to go is the lowest of those that help; only best-effort work is ever ended so.
void Enforcement::killInstead(const Ousting& ousting) {
  const api::Pod& pod = *ousting.pod;
  const std::span<const PodLook> pods = agent_.look().pods;
  const auto look = std::find_if(pods.begin(), pods.end(), [&](const PodLook& one) {
    return one.pod && one.pod->meta.uid == pod.meta.uid;
  });
  if (look == pods.end() || api::rawQos(pod.meta.labels) != api::Qos::kBe ||
      options_.enforcer.dryRun)
    return;
  const auto ok = killCgroup(agent_.machine(), look->cgroup);
  shown_->audit.add({.at = clock_.wall(),
                     .owner = std::string(ousting.feature),
                     .why = ousting.why + "; the API server is away",
                     .cgroup = fmt::format("{}/{}", pod.meta.ns.view(), pod.meta.name.view()),
                     .file = "eviction",
                     .from = "",
                     .to = std::to_string(ousting.expected),
                     .outcome = ok ? "killed" : ok.error().text()});
  log.warn("{}/{} was ended without the API server: {}", pod.meta.ns.view(), pod.meta.name.view(),
           ousting.why);
  if (ok) lately_->add(pod.meta.uid.str(), clock_.mono());
}

void Enforcement::answered(const Ousting& ousting, EvictionAnswer answer) {
  const MonoTime now = clock_.mono();
  const std::string uid = ousting.pod->meta.uid.str();
  lastResort_.asked(answer != EvictionAnswer::kNobody, now);
  if (answer == EvictionAnswer::kRefused) return lately_->refuse(uid, now);
  if (answer == EvictionAnswer::kNobody) {
    lately_->remove(uid);
    if (lastResort_.isDue(now)) killInstead(ousting);
    return;
  }
  pause_.evicted(clock_.mono());
  series_->evicted(ousting, clock_.mono());
  pauseWhy_ = fmt::format("{} evicted {}/{}", ousting.feature, ousting.pod->meta.ns.view(),
                          ousting.pod->meta.name.view());
}

// Also takes back what a predecessor left.
void Enforcement::keepPause(const Look& look, const api::Node* node) {
  if (node == nullptr || options_.enforcer.dryRun) return;
  const bool paused = !enforcer_->isOff() && pause_.isOn(look.at, enforcer_->inTrouble());
  nodePause_.want(paused, pauseWhy_, *node);
}

void Enforcement::tellBlind(const api::Node* node) {
  const bool blind = enforcer_->isBlind();
  metrics_
      .gauges("mangrove_agent_fail_safe",
              "1 while nothing can be measured and the conservative limit is in force.")
      .with({})
      .set(blind ? 1 : 0);
  if (node == nullptr || std::exchange(toldBlind_, blind) == blind) return;
  const api::ObjectRef about = api::refTo(client::kind::kNode, node->meta);
  if (blind)
    events_.warning(
        about, "MeasurementsMissing",
        "nothing could be measured for 10 s: best-effort work has the conservative limit");
  else
    events_.normal(about, "MeasurementsBack", "best-effort work has the measured limit again");
}

void Enforcement::count(const ApplyReport& report) {
  auto& files = metrics_.counters("mangrove_agent_control_files_total",
                                  "Control files by what became of a wish for them.", {"result"});
  const auto add = [&](const char* result, size_t count) {
    if (count > 0) files.with({result}).inc(static_cast<double>(count));
  };
  add("written", report.written);
  add("dry-run", report.dryRun);
  add("refused", report.refused);
  add("failed", report.failed);
  add("conflict", report.conflicts);
  metrics_.gauges("mangrove_agent_control_files", "Control files held by the agent.")
      .with({})
      .set(static_cast<double>(enforcer_->executor().held().size()));
}

std::function<std::string()> Enforcement::teller() const {
  return [shown = shown_] {
    std::lock_guard lock(shown->mutex);
    return shown->explanation;
  };
}

void Enforcement::serve(frame::OpsServer& ops) {
  const auto tell = [shown = shown_](const net::HttpRequest&) {
    std::lock_guard lock(shown->mutex);
    return net::HttpResponse::json(200, shown->explanation);
  };
  ops.route("/controls", tell);
  ops.route("/enforcement", tell);
}

}  // namespace mangrove::agent
