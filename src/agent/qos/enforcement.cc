#include "agent/qos/enforcement.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "agent/executor/kill.h"
#include "agent/executor/owners.h"
#include "agent/gates.h"
#include "agent/hooks/cpuset.h"
#include "base/os/log.h"
#include "base/text/strings.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

const Logger log("enforcement");

// What /enforcement shows is made anew this often, and whenever something was written.
constexpr Duration kShowEvery = std::chrono::seconds(5);

kernel::PodTier tierOfParent(std::string_view cgroupParent) {
  const api::KubeQos qos = kubeQosOfParent(cgroupParent);
  return qos == api::KubeQos::kBestEffort  ? kernel::PodTier::kBestEffort
         : qos == api::KubeQos::kBurstable ? kernel::PodTier::kBurstable
                                           : kernel::PodTier::kGuaranteed;
}

EnforcerOptions optionsOf(const AgentFlags& flags) {
  EnforcerOptions options;
  options.dryRun = flags.dryRun;
  for (std::string_view name : splitTrimmed(flags.dryStrategies, ','))
    if (!name.empty()) options.dryStrategies.emplace(name);
  options.stateFile = flags.enforceState;
  if (flags.root == "/") options.diskPath = flags.kubeletDir;
  return options;
}

StrategyOptions strategiesOf(const AgentFlags& flags, std::shared_ptr<EvictedLately> lately) {
  const auto seconds = [](int64_t count) {
    return std::chrono::seconds(std::max<int64_t>(count, 0));
  };
  StrategyOptions out;
  out.lately = std::move(lately);
  out.ownsGroup = flags.ownsBestEffortGroup;
  out.memoryEvict = {seconds(flags.memoryEvictCool), false, seconds(flags.memoryEvictInterval)};
  out.cpuEvict = {seconds(flags.cpuEvictCool), true, seconds(flags.cpuEvictInterval)};
  return out;
}

// The process's gates and those of the hooks, which have a flag of their own.
FeatureGates allGates(const FeatureGates& process, const AgentFlags& flags) {
  std::vector<GateInfo> known = process.known();
  for (const GateInfo& one : hookGates()) known.push_back(one);
  FeatureGates gates(known);
  for (const std::string& said : {process.summary(), flags.runtimeHooks})
    if (auto ok = gates.set(said); !ok) log.warn("gates: {}", ok.error().text());
  if (flags.keepsQuota) (void)gates.set("UnsetCPUQuota=false");
  return gates;
}

NriOptions nriOptions(const AgentFlags& flags) {
  NriOptions out;
  out.socket = flags.nriSocketPath();
  out.name = flags.nriName;
  out.index = flags.nriIndex;
  return out;
}

// A pod that the last look does not have yet.
PodLook newPod(const PodPtr& pod, std::string_view uid, std::string_view cgroup,
               kernel::PodTier tier) {
  PodLook one;
  one.pod = pod;
  one.uid = uid;
  one.cgroup = cgroup;
  one.tier = tier;
  one.qos = api::qosWithDefault(*pod);
  return one;
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

}  // namespace

Enforcement::Enforcement(const EnforcementSetup& setup, const AgentFlags& flags)
    : agent_(setup.agent),
      clock_(setup.clock),
      metrics_(setup.metrics),
      series_(std::make_shared<EnforceMetrics>(setup.metrics, setup.agent.options().node)),
      dryRun_(flags.dryRun),
      hamiLibrary_(flags.hamiLibrary),
      gates_(allGates(setup.gates, flags)),
      events_(setup.client, setup.home, setup.clock,
              {.component = "koordlet-qosManager", .host = setup.agent.options().node}),
      sender_({setup.client, setup.owner, setup.clock, events_, shown_->audit, setup.metrics,
               [this](const Ousting& one, EvictionAnswer answer) { answered(one, answer); }},
              {.perMinute = static_cast<size_t>(std::max<int64_t>(flags.evictionsPerMinute, 0))}),
      lastResort_(flags.killWhenApiAway),
      nodePause_({setup.client, setup.owner, setup.clock, events_},
                 {.effect = flags.cooldownTaint}),
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
                flags) {
  auto strategies = defaultStrategies(strategiesOf(flags, lately_));
  reflexes_.join(strategies);
  strategies.push_back(std::make_unique<PauseMemory>(pause_));
  enforcer_ = std::make_unique<Enforcer>(
      EnforcerSetup{agent_.machine(), clock_, gates_, shown_->audit,
                    [this](const Ousting& one) { return sender_.evict(one); },
                    // Captured machines have neither processes nor links of their own.
                    flags.root == "/" ? DeedTools{&cookies_, &shaper_} : DeedTools{},
                    [series = series_](const WriteDone& done) { series->wrote(done); }},
      optionsOf(flags), std::move(strategies));
  reflexes_.adoptGuarded();
  if (flags.nri && flags.root == "/" && setup.io != nullptr) {
    NriOptions options = nriOptions(flags);
    options.onPod = [this](const NriPod& pod) { podBegan(pod); };
    options.onContainer = [this](const NriPod& pod, const NriContainer& container) {
      containerBegan(pod, container);
    };
    nri_ = std::make_unique<NriService>(NriContext{*setup.io, clock_, setup.owner, series_},
                                        std::move(options));
  }
  agent_.onLook([this, alive = alive_](const Look& look) {
    if (*alive) tick(look);
  });
  if (setup.ops != nullptr) serve(*setup.ops);
}

Enforcement::~Enforcement() {
  *alive_ = false;
  nri_.reset();
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
  const ApplyReport report = enforcer_->tick(look, node.get(), topology.get(), agent_.knowsPods());
  count(report);
  if (node) series_->tick(look, enforcer_->executor(), shown_->audit);
  reflexes_.afterTick(look, node.get(), enforcer_->isOff());
  keepPause(look, node.get());
  tellBlind(node.get());
  publishRules(look, node.get(), topology.get());
  show(look, report);
}

// The pod's cgroup is new and the last look does not have it. What its object says was watched
// before the runtime was asked to run it.
void Enforcement::podBegan(const NriPod& nri) {
  const Look& last = agent_.look();
  const PodPtr pod = agent_.book().find(nri.uid);
  const auto isIt = [&](const PodLook& one) { return one.uid == nri.uid; };
  if (!pod || last.machine == nullptr) return;
  if (std::any_of(last.pods.begin(), last.pods.end(), isIt)) return;
  const kernel::PodTier tier = tierOfParent(nri.cgroupParent);
  const std::string cgroup = agent_.machine().layout().podDir(tier, nri.uid);
  std::vector<PodLook> pods(last.pods.begin(), last.pods.end());
  pods.push_back(newPod(pod, nri.uid, cgroup, tier));
  Look now = last;
  now.pods = pods;
  count(enforcer_->podBegan(now, agent_.node().get(), agent_.topology().get()));
  // Its containers come next, and its groups are there now.
  publishRules(now, agent_.node().get(), agent_.topology().get());
}

// By the process that waits in it; "": none does.
std::string Enforcement::cgroupOf(const std::string& pod, const NriContainer& container) const {
  for (const char* runtime : {"containerd", "cri-o"}) {
    auto dir =
        agent_.machine().layout().containerDir(pod, fmt::format("{}://{}", runtime, container.id));
    if (dir && !enforcer_->executor().members(*dir, kernel::resource_name::kProcs).empty())
      return *dir;
  }
  return "";
}

// What belongs to processes (cookies, groups of resctrl) does not wait for the tick either.
void Enforcement::containerBegan(const NriPod& nri, const NriContainer& container) {
  const Look& last = agent_.look();
  const PodPtr pod = agent_.book().find(nri.uid);
  if (!pod || last.machine == nullptr) return;
  const kernel::PodTier tier = tierOfParent(nri.cgroupParent);
  const std::string podCgroup = agent_.machine().layout().podDir(tier, nri.uid);
  const std::string cgroup = cgroupOf(podCgroup, container);
  if (cgroup.empty()) return;
  std::vector<PodLook> pods(last.pods.begin(), last.pods.end());
  auto mine = std::find_if(pods.begin(), pods.end(),
                           [&](const PodLook& one) { return one.uid == nri.uid; });
  if (mine == pods.end()) mine = pods.insert(mine, newPod(pod, nri.uid, podCgroup, tier));
  std::vector<ContainerLook> containers(mine->containers.begin(), mine->containers.end());
  for (const ContainerLook& one : containers)
    if (one.cgroup == cgroup) return;
  ContainerLook& one = containers.emplace_back();
  one.serial = ~uint64_t{0};
  one.id = container.id;
  one.name = container.name;
  one.cgroup = cgroup;
  mine->containers = containers;
  Look now = last;
  now.pods = pods;
  count(enforcer_->podBegan(now, agent_.node().get(), agent_.topology().get()));
}

void Enforcement::publishRules(const Look& look, const api::Node* node,
                               const api::NodeResourceTopology* topology) {
  if (!nri_) return;
  auto rules = std::make_shared<HookRules>();
  if (!enforcer_->isOff() && !dryRun_)
    *rules = hookRules({look, node, topology ? &topology->meta.annotations : nullptr,
                        enforcer_->executor(), gates_},
                       hamiLibrary_);
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
  if (look == pods.end() || api::rawQos(pod.meta.labels) != api::Qos::kBe || dryRun_) return;
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
  if (node == nullptr || dryRun_) return;
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
  metrics_
      .gauges("mangrove_agent_control_files_missing",
              "Control files that a strategy wants and this kernel or cgroup does not have.")
      .with({})
      .set(static_cast<double>(report.missing));
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

Result<> restoreAndQuit(const AgentFlags& flags, frame::RoleContext& context) {
  MachineOptions options = liveMachine(flags.root);
  options.live = false;
  options.mounts = flags.mounts(kernel::SysRoot(flags.root));
  if (!flags.cgroupDriver.empty())
    options.driver = flags.cgroupDriver == "systemd" ? kernel::CgroupDriver::kSystemd
                                                     : kernel::CgroupDriver::kCgroupfs;
  auto machine = Machine::open(options);
  if (!machine) return pass(machine.error());
  auto lines = restoreMachine(**machine, context.clock, flags.enforceState);
  if (!lines) return pass(lines.error());
  for (const std::string& line : *lines) fmt::print("{}\n", line);
  context.quit(0);
  return {};
}

}  // namespace mangrove::agent
