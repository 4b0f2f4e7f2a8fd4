#include "agent/qos/reflexes.h"

#include <fmt/format.h>

#include "agent/executor/owners.h"
#include "agent/memory/strategy.h"
#include "agent/pressure/strategy.h"
#include "agent/qos/cpu_suppress/quota.h"
#include "kernel/control_files.h"
#include "kernel/read_text.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

constexpr std::string_view kQuota = kernel::resource_name::kCpuQuota;
constexpr std::string_view kEvictFeature = "BEMemoryEvict";

std::string mib(Bytes bytes) {
  return fmt::format("{:.1f}", static_cast<double>(bytes.v) / static_cast<double>(kMiB.v));
}

}  // namespace

Reflexes::Reflexes(ReflexesSetup setup, ReflexOptions options, EnforcerOptions dry)
    : setup_(std::move(setup)), options_(std::move(options)), dry_(std::move(dry)) {
  if (setup_.gates.on("PressureCut")) startSentinel();
  if (setup_.gates.on("MemoryGiveBack")) startGiveBack();
  if (!dry_.dryRun && !options_.heartbeat.empty())
    keeper_ = std::make_unique<GuardianKeeper>(
        options_.heartbeat, options_.guardian ? "/proc/self/exe" : "", options_.root);
}

Reflexes::~Reflexes() {
  stop();
}

bool Reflexes::isDry(std::string_view strategy) const {
  return dry_.dryRun || dry_.dryStrategies.count(strategy) != 0;
}

void Reflexes::post(std::function<void()> fn) {
  setup_.owner.post([alive = alive_, fn = std::move(fn)] {
    if (*alive) fn();
  });
}

// Cuts are written in the sentinel's thread; what is said about them is said in ours.
void Reflexes::startSentinel() {
  const Duration interval = options_.pressureInterval;
  SentinelOptions options;
  options.interval = interval;
  options.busyInterval = std::min(options.busyInterval, interval);
  options.onCut = [this](const Cut& cut) { post([this, cut] { wasCut(cut); }); };
  sentinel_ =
      std::make_unique<Sentinel>(setup_.agent.machine().root(), setup_.clock, std::move(options));
  sentinel_->start();
}

void Reflexes::startGiveBack() {
  GiveBackOptions options;
  options.onRung = [this](const RungReport& report) { post([this, report] { wasTaken(report); }); };
  options.onEvict = [this](const std::string& uid, Bytes frees, const std::string& loss) {
    post([this, uid, frees, loss] { evict(uid, frees, loss); });
  };
  giveBack_ =
      std::make_unique<GiveBack>(setup_.agent.machine().root(), setup_.clock, std::move(options));
  giveBack_->start();
}

void Reflexes::join(std::vector<std::unique_ptr<Strategy>>& strategies) {
  if (sentinel_)
    strategies.push_back(std::make_unique<PressureCut>(
        *sentinel_,
        PressureOptions{.dryRun = isDry(owner::kPressure), .only = options_.suppressOnPressure}));
  if (giveBack_)
    strategies.push_back(
        std::make_unique<MemoryGiveBack>(*giveBack_, setup_.lately, isDry(owner::kGiveBack)));
}

void Reflexes::wasCut(const Cut& cut) {
  const FileRule& rule = *ruleOf(kQuota);
  const auto quota = [&](int64_t value) { return showValue(rule, FileValue::of(value)); };
  const bool dry = isDry(owner::kPressure);
  setup_.audit.add(
      {.at = setup_.clock.wall(),
       .owner = std::string(owner::kPressure),
       .why = fmt::format("{} waited {:.0f} % of the time", cut.group, cut.waited * 100),
       .cgroup = setup_.agent.machine().layout().tierDir(kernel::PodTier::kBestEffort),
       .file = std::string(rule.resource),
       .from = quota(cut.from),
       .to = quota(cut.to),
       .outcome = dry                   ? "dry-run"
                  : cut.trouble.empty() ? "written"
                                        : cut.trouble});
  setup_.metrics
      .counters("mangrove_agent_pressure_cuts_total",
                "Cuts of best-effort CPU because services waited, by what became of them.",
                {"result"})
      .with({dry                   ? "dry-run"
             : cut.trouble.empty() ? "written"
                                   : "failed"})
      .inc();
  // The group alone could not be narrowed, a child has more: the executor goes from the bottom up.
  if (!cut.trouble.empty() && setup_.again) setup_.again();
}

void Reflexes::wasTaken(const RungReport& report) {
  setup_.audit.add({.at = report.at,
                    .owner = std::string(owner::kGiveBack),
                    .why = fmt::format("wanted {} MiB, freed {} MiB in {:.1f} ms",
                                       mib(report.wanted), mib(report.freed),
                                       std::chrono::duration<double>(report.took).count() * 1000),
                    .cgroup = report.cgroup,
                    .file = std::string(rungName(report.kind)),
                    .from = "",
                    .to = mib(report.freed) + " MiB",
                    .outcome = report.outcome});
  const std::vector<std::string> rung{std::string(rungName(report.kind))};
  auto& metrics = setup_.metrics;
  metrics.counters("mangrove_agent_give_back_rungs_total", "Rungs taken.", {"rung"})
      .with(rung)
      .inc();
  metrics.counters("mangrove_agent_give_back_bytes_total", "Memory freed, by rung.", {"rung"})
      .with(rung)
      .inc(static_cast<double>(report.freed.v));
}

void Reflexes::evict(const std::string& uid, Bytes frees, const std::string& loss) {
  const PodPtr pod = setup_.agent.book().find(uid);
  if (!pod || !setup_.evict || isDry(owner::kGiveBack)) return;
  setup_.evict({pod, kEvictFeature,
                fmt::format("services need memory and {} MiB of this pod cannot be reclaimed; {}",
                            frees.v / kMiB.v, loss),
                frees.v});
}

void Reflexes::show() {
  auto& modes = setup_.metrics.gauges("mangrove_agent_pressure_mode",
                                      "How pressure is noticed: 1 for the way in force.", {"mode"});
  const std::string now = sentinel_ ? sentinel_->status().mode : "off";
  for (const char* mode : {"trigger", "poll", "node", "idle", "blind", "resting", "off"})
    modes.with({mode}).set(now == mode ? 1 : 0);
  setup_.metrics.gauges("mangrove_agent_guardian", "1 when somebody steps in if this process dies.")
      .with({})
      .set(keeper_ && keeper_->trouble().empty() ? 1 : 0);
}

// What best-effort work holds, and half of what is free beside it: enough to go on, too little to take
// the machine while nobody looks.
void Reflexes::guardMemory(const Look& look, Heartbeat& beat) const {
  const Machine& machine = setup_.agent.machine();
  if (!giveBack_ || !look.node.usage.memory || !machine.trees().has(kernel::Controller::kMemory))
    return;
  Bytes held;
  for (const PodLook& pod : look.pods)
    if (pod.tier == kernel::PodTier::kBestEffort)
      held += pod.usage.memoryWithCache.value_or(Bytes{0});
  const Bytes free = look.node.memoryTotal - *look.node.usage.memory;
  const MemoryCap group = groupMemory();
  beat.memory = (held + std::max(free, Bytes{0}) / 2).v;
  beat.memoryBefore = group.before;
  beat.memoryFile =
      kernel::filePath(machine.trees(), *kernel::findResource(group.resource), group.cgroup)
          .value_or("");
}

// The group's own file and what it has now.
MemoryCap Reflexes::groupMemory() const {
  const Machine& machine = setup_.agent.machine();
  MemoryCap out;
  out.cgroup = machine.layout().tierDir(kernel::PodTier::kBestEffort);
  out.resource = machine.trees().isV2() ? kernel::resource_name::kMemoryHigh
                                        : kernel::resource_name::kMemoryLimit;
  const auto path =
      kernel::filePath(machine.trees(), *kernel::findResource(out.resource), out.cgroup);
  const auto text = kernel::readText(machine.root(), path.value_or(""));
  const auto value = text && *text
                         ? parseValue(*ruleOf(out.resource), **text, machine.trees().version())
                         : Result<FileValue>(FileValue::of(kUnlimited));
  out.before = value ? value->number : kUnlimited;
  return out;
}

void Reflexes::adoptGuarded() {
  auto last =
      options_.heartbeat.empty() ? fail(Code::kNotFound, "") : readHeartbeat(options_.heartbeat);
  if (!last || last->bye || last->memoryFile.empty() || last->memory == kUnlimited) return;
  MemoryCap group = groupMemory();
  if (group.before != last->memory) return;  // nobody stepped in, or somebody else wrote since
  group.most = Bytes{last->memory};
  group.before = last->memoryBefore;
  if (setup_.narrowed) setup_.narrowed(group);
}

// Where nothing is enforced there is nothing to guard.
Heartbeat Reflexes::agreed(const Look& look, const api::Node* node, bool off) const {
  Heartbeat beat;
  beat.at = setup_.clock.mono();
  const auto* slo = look.slo ? &look.slo->resourceUsedThresholdWithBe : nullptr;
  if (off || !node || !slo || !*slo || !(*slo)->enable.value_or(false)) return beat;
  const Machine& machine = setup_.agent.machine();
  const SentinelOrders files = sentinelFiles(machine);
  beat.quotaFile = files.quotaFile;
  beat.version = files.version;
  beat.safe =
      safeQuota(node->status.capacity.cpu(), (*slo)->cpuSuppressMinPercent.value_or(Percent{0}))
          .us();
  guardMemory(look, beat);
  return beat;
}

void Reflexes::afterTick(const Look& look, const api::Node* node, bool off) {
  if (keeper_) keeper_->beat(agreed(look, node, off));
  show();
}

// What was cut since the last tick is not known to the executor, which is about to give back.
void Reflexes::handOver() {
  if (!giveBack_ || !setup_.narrowed) return;
  for (const MemoryCap& cap : giveBack_->takeCaps()) setup_.narrowed(cap);
}

void Reflexes::rest() {
  if (sentinel_) sentinel_->rest();
  if (giveBack_) giveBack_->rest();
  handOver();
}

void Reflexes::stop() {
  *alive_ = false;
  if (sentinel_) sentinel_->stop();
  if (giveBack_) giveBack_->stop();
  handOver();
}

}  // namespace mangrove::agent
