#include "agent/qos/enforcement.h"

#include <fmt/format.h>

#include "agent/gates.h"
#include "base/log.h"
#include "base/strings.h"

namespace mangrove::agent {
namespace {

const Logger log("enforcement");

// What /enforcement shows is made anew this often, and whenever something was written.
constexpr Duration kShowEvery = std::chrono::seconds(5);
constexpr size_t kEventsPage = 200;

EnforcerOptions optionsOf(const AgentFlags& flags) {
  EnforcerOptions options;
  options.dryRun = flags.dryRun;
  for (std::string_view name : splitTrimmed(flags.dryStrategies, ','))
    if (!name.empty()) options.dryStrategies.emplace(name);
  options.stateFile = flags.enforceState;
  return options;
}

// The process's gates and those of the hooks, which have a flag of their own.
FeatureGates allGates(const FeatureGates& process, const AgentFlags& flags) {
  std::vector<GateInfo> known = process.known();
  for (const GateInfo& one : hookGates()) known.push_back(one);
  FeatureGates gates(known);
  for (const std::string& said : {process.summary(), flags.runtimeHooks})
    if (auto ok = gates.set(said); !ok) log.warn("gates: {}", ok.error().text());
  return gates;
}

// "/events?before=17"
uint64_t beforeOf(const std::string& target) {
  const size_t at = target.find("before=");
  if (at == std::string::npos) return 0;
  const std::string_view text = std::string_view(target).substr(at + 7);
  return parseInt<uint64_t>(text.substr(0, text.find('&'))).value_or(0);
}

}  // namespace

Enforcement::Enforcement(const EnforcementSetup& setup, const AgentFlags& flags)
    : agent_(setup.agent),
      clock_(setup.clock),
      metrics_(setup.metrics),
      gates_(allGates(setup.gates, flags)),
      events_(setup.client, setup.home, setup.clock,
              {.component = "koordlet-qosManager", .host = setup.agent.options().node}),
      sender_({setup.client, setup.owner, setup.clock, events_, shown_->audit, setup.metrics},
              {.perMinute = static_cast<size_t>(std::max<int64_t>(flags.evictionsPerMinute, 0))}),
      reflexes_(
          {setup.agent, setup.owner, setup.clock, setup.metrics, gates_, shown_->audit,
           [this](const Ousting& one) { sender_.evict(one); }, [this] { tick(agent_.look()); }},
          flags) {
  enforcer_ =
      std::make_unique<Enforcer>(EnforcerSetup{agent_.machine(), clock_, gates_, shown_->audit,
                                               [this](const Ousting& one) { sender_.evict(one); }},
                                 optionsOf(flags), defaultStrategies());
  agent_.onLook([this, alive = alive_](const Look& look) {
    if (*alive) tick(look);
  });
  if (setup.ops != nullptr) serve(*setup.ops);
}

Enforcement::~Enforcement() {
  *alive_ = false;
  reflexes_.stop();
  const ApplyReport report = enforcer_->leave("the agent leaves");
  if (report.files > 0)
    log.info("gave {} of {} files back, {} failed", report.written, report.files, report.failed);
}

void Enforcement::tick(const Look& look) {
  const auto node = agent_.node();
  const auto topology = agent_.topology();
  const ApplyReport report = enforcer_->tick(look, node.get(), topology.get());
  count(report);
  reflexes_.afterTick(look, node.get(), enforcer_->isOff());
  const bool due = shownAt_ == MonoTime::min() || look.at - shownAt_ >= kShowEvery;
  if (!due && report.written == 0) return;
  shownAt_ = look.at;
  std::string text = json::write(enforcer_->explain());
  std::lock_guard lock(shown_->mutex);
  shown_->explanation = std::move(text);
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

void Enforcement::serve(frame::OpsServer& ops) {
  ops.route("/enforcement", [shown = shown_](const net::HttpRequest&) {
    std::lock_guard lock(shown->mutex);
    return net::HttpResponse::json(200, shown->explanation);
  });
  if (!gates_.on("AuditEventsHTTPHandler")) return;
  ops.route("/events", [shown = shown_](const net::HttpRequest& request) {
    return net::HttpResponse::json(
        200, json::write(shown->audit.toJson(beforeOf(request.target), kEventsPage)));
  });
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
