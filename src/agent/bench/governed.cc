#include "agent/bench/governed.h"

#include <fmt/format.h>

#include "agent/gates.h"
#include "agent/pressure/strategy.h"
#include "api/interference/policy.h"
#include "api/koordinator/slo_defaults.h"
#include "api/wire/decode.h"
#include "base/check.h"
#include "base/clock.h"

namespace mangrove::agent {
namespace {

constexpr Duration kTick = std::chrono::seconds(1);

bool isReference(BatchProfile profile) {
  return profile == BatchProfile::kReference;
}

bool hasFloor(BatchProfile profile) {
  return profile != BatchProfile::kReference && profile != BatchProfile::kPressureOnly &&
         profile != BatchProfile::kBare;
}

bool hasCuts(BatchProfile profile) {
  return !isReference(profile) && profile != BatchProfile::kBare;
}

bool ownsGroup(BatchProfile profile) {
  return profile == BatchProfile::kMangrove || profile == BatchProfile::kPressureAndFloor;
}

bool suppresses(BatchProfile profile) {
  return profile == BatchProfile::kMangrove || profile == BatchProfile::kKubelet ||
         profile == BatchProfile::kReference;
}

FeatureGates gatesOf(BatchProfile profile, const std::string& more) {
  std::vector<GateInfo> all(agentGates().begin(), agentGates().end());
  all.insert(all.end(), hookGates().begin(), hookGates().end());
  FeatureGates gates(all);
  const auto ok = gates.set(fmt::format("BECPUSuppress={},KernelFloor={},PressureCut={}",
                                        suppresses(profile), hasFloor(profile), hasCuts(profile)));
  CHECK(ok, "{}", ok.error().text());
  const auto other = more.empty() ? Result<>() : gates.set(more);
  CHECK(other, "{}", other.error().text());
  return gates;
}

std::string podText(const std::string& uid, const char* qos, const char* kubeQos,
                    const std::string& annotations) {
  return fmt::format(R"({{"metadata":{{"name":"{}","namespace":"bench","uid":"{}","labels":)"
                     R"({{"koordinator.sh/qosClass":"{}"}},"annotations":{}}},)"
                     R"("spec":{{"hostNetwork":true,"containers":[{{"name":"c"}}]}},)"
                     R"("status":{{"phase":"Running","qosClass":"{}","podIP":"127.0.0.1"}}}})",
                     uid, uid, qos, annotations.empty() ? "{}" : annotations, kubeQos);
}

std::string sloText(BatchProfile profile, const std::string& policy) {
  const std::string extensions = policy.empty() ? ""
                                                : fmt::format(R"(,"extensions":{{"{}":{}}})",
                                                              api::kInterferenceExtension, policy);
  return fmt::format(R"({{"spec":{{"resourceUsedThresholdWithBE":{{"enable":{},)"
                     R"("cpuSuppressThresholdPercent":{},"cpuSuppressPolicy":"{}"}}{}}}}})",
                     profile != BatchProfile::kBare, isReference(profile) ? 65 : 95,
                     isReference(profile) ? "cpuset" : "cfsQuota", extensions);
}

}  // namespace

Governed::Governed(GovernedOptions options, std::unique_ptr<Machine> machine)
    : options_(std::move(options)),
      machine_(std::move(machine)),
      history_(History::open({}, realClock().mono())),
      collector_(*machine_, realClock(), history_, {}),
      gates_(gatesOf(options_.profile, options_.gates)) {
  if (hasCuts(options_.profile))
    sentinel_ = std::make_unique<Sentinel>(machine_->root(), realClock(), options_.sentinel);
  if (options_.loop)
    latency_ = std::make_unique<LatencyWatch>(*options_.loop, owner_, realClock(), board_);
  enforcer_ = std::make_unique<Enforcer>(EnforcerSetup{*machine_, realClock(), gates_, audit_},
                                         EnforcerOptions{}, strategies());
}

std::vector<std::unique_ptr<Strategy>> Governed::strategies() {
  StrategyOptions own;
  own.ownsGroup = ownsGroup(options_.profile);
  own.interference = board_;
  auto out = defaultStrategies(own);
  if (sentinel_)
    out.push_back(std::make_unique<PressureCut>(
        *sentinel_, PressureOptions{.only = true, .triggers = options_.triggers}));
  return out;
}

// What an API server would have told.
Result<> Governed::describe() {
  const auto put = [&](const std::string& uid, const char* qos, const char* kubeQos) -> Result<> {
    const bool service = std::string_view(qos) != "BE";
    auto pod =
        api::decodeText<api::Pod>(podText(uid, qos, kubeQos, service ? options_.annotations : ""));
    if (!pod) return pass(pod.error());
    book_.put(std::make_shared<const api::Pod>(*std::move(pod)));
    return {};
  };
  for (const std::string& uid : options_.services)
    if (auto ok = put(uid, "LS", "Burstable"); !ok) return ok;
  if (auto ok = put(options_.batch, "BE", "BestEffort"); !ok) return ok;
  for (const std::string& uid : options_.moreBatch)
    if (auto ok = put(uid, "BE", "BestEffort"); !ok) return ok;
  auto node = api::decodeText<api::Node>(fmt::format(
      R"({{"metadata":{{"name":"bench"}},"status":{{"capacity":{{"cpu":"{}"}},"allocatable":{{"cpu":"{}"}}}}}})",
      machine_->cpus().cpus.size(), machine_->cpus().cpus.size()));
  if (!node) return pass(node.error());
  node_ = *std::move(node);
  auto slo = api::decodeText<api::NodeSlo>(sloText(options_.profile, options_.policy));
  if (!slo) return pass(slo.error());
  slo->spec = api::completed(slo->spec);
  collector_.setSlo(std::make_shared<const api::NodeSlo>(*std::move(slo)));
  return {};
}

Result<std::unique_ptr<Governed>> Governed::start(const PodCgroups& pods, GovernedOptions options) {
  MachineOptions machine = liveMachine();
  machine.driver = kernel::CgroupDriver::kCgroupfs;
  machine.mounts.cgroupParent = pods.parent();
  auto opened = Machine::open(std::move(machine));
  if (!opened) return pass(opened.error());
  std::unique_ptr<Governed> out(new Governed(std::move(options), *std::move(opened)));
  if (auto ok = out->describe(); !ok) return pass(ok.error());
  if (out->sentinel_) out->sentinel_->start();
  out->thread_ = std::thread([raw = out.get()] { raw->run(); });
  std::unique_lock lock(out->mutex_);
  out->bell_.wait(lock, [&] { return out->ticks_ >= out->options_.primed; });
  return out;
}

Governed::~Governed() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  bell_.notify_all();
  if (thread_.joinable()) thread_.join();
  if (sentinel_) sentinel_->stop();
  (void)enforcer_->leave("the benchmark ends");
}

void Governed::tick() {
  owner_.drain();
  const Look& look = collector_.tick(book_);
  if (latency_) latency_->follow(look);
  (void)enforcer_->tick(look, &node_, nullptr);
  if (options_.told) options_.told(*board_);
}

void Governed::run() {
  for (;;) {
    tick();
    std::unique_lock lock(mutex_);
    ++ticks_;
    bell_.notify_all();
    if (bell_.wait_for(lock, kTick, [this] { return ending_; })) return;
  }
}

}  // namespace mangrove::agent
