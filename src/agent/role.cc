#include "agent/role.h"

#include <cstdlib>
#include <functional>

#include "agent/almanac/serve.h"
#include "agent/audit/http.h"
#include "agent/audit/record_event.h"
#include "agent/devices/nvml.h"
#include "agent/enforcement_flags.h"
#include "agent/gates.h"
#include "api/wire/names.h"
#include "base/os/log.h"
#include "base/text/strings.h"
#include "client/http/kubeconfig.h"
#include "frame/role_flags.h"

namespace mangrove::agent {
namespace {

const Logger log("agent");

net::HttpResponse exposition(const std::string& text) {
  net::HttpResponse response = net::HttpResponse::text(200, text);
  response.headers.set("Content-Type", Registry::kContentType);
  return response;
}

PredictorOptions predictorOptions(const AgentFlags& flags) {
  PredictorOptions out;
  out.models = {flags.cpuHalfLife, flags.memoryHalfLife, flags.coldStart, flags.trainingInterval,
                flags.modelExpiry};
  out.checkpointDir = flags.checkpointDir;
  out.exportDir = flags.exportDir;
  out.checkpointInterval = flags.checkpointInterval;
  out.marginPercent = flags.safetyMargin;
  return out;
}

}  // namespace

AgentRole::AgentRole() = default;
AgentRole::~AgentRole() = default;

frame::RoleInfo AgentRole::info() const {
  return {.name = "agent",
          .about = "measures this node, learns its peaks and reports both",
          .opsFlag = "addr",
          .opsDefault = ":9316",
          .gates = agentGates()};
}

void AgentRole::flags(frame::Flags& flags) {
  flags_.declare(flags);
  frame::refuseRecord(flags,
                      "the agent decides by files of this machine, which are not recorded; "
                      "--record of the manager has what the agent reported");
}

Result<> AgentRole::connect(frame::RoleContext& context) {
  auto config = flags_.server.config();
  if (!config) return pass(config.error());
  auto made = flags_.server.connect(context, {.userAgent = "koordlet"});
  if (!made) return pass(made.error());
  client_ = std::move(*made);
  if (context.ops) guard_.emplace(*context.ops, *client_);
  config_ = *std::move(config);
  worker_ = std::make_unique<client::Worker>();
  return {};
}

Result<AgentOptions> AgentRole::optionsFor(const frame::RoleContext& context) const {
  AgentOptions options;
  const char* fromEnvironment = std::getenv(std::string(api::env::kNodeName).c_str());
  options.node = !flags_.node.empty() ? flags_.node : fromEnvironment ? fromEnvironment : "";
  options.machine = liveMachine(flags_.root);
  options.machine.live = isThisMachine(options.machine.root);
  options.machine.mounts = flags_.mounts(kernel::SysRoot(flags_.root));
  if (!flags_.cgroupDriver.empty())
    options.machine.driver = flags_.cgroupDriver == "systemd" ? kernel::CgroupDriver::kSystemd
                                                              : kernel::CgroupDriver::kCgroupfs;
  CollectorOptions& collect = options.collect;
  collect.period = flags_.collectInterval;
  collect.reader.descriptors =
      raiseDescriptorLimit(static_cast<size_t>(std::max<int64_t>(flags_.descriptors, 16)));
  collect.pressure = context.gates.on(gate::kPsiCollector);
  collect.pressureInterval = flags_.psiInterval;
  collect.coldPages = context.gates.on(gate::kColdPageCollector);
  collect.coldInterval = flags_.coldInterval;
  collect.resctrl = flags_.resctrlCollector && context.gates.on(gate::kResctrlCollector);
  collect.resctrlInterval = flags_.resctrlInterval;
  collect.yarn = context.gates.on("YarnNodeManager");
  collect.cpi = context.gates.on(gate::kCpiCollector);
  collect.cpiInterval = flags_.cpiInterval;
  collect.cpiWindow = flags_.cpiWindow;
  collect.machineInterval = flags_.cpuInfoInterval;
  options.predict = predictorOptions(flags_);
  options.topology.enabled =
      context.gates.on(gate::kNodeTopologyReport) && flags_.topologyInterval > Duration::zero();
  options.topology.interval = flags_.topologyInterval;
  options.topology.hugePages = context.gates.on(gate::kHugePageReport);
  options.topology.kubeletDir = flags_.kubeletDir;
  options.devices.accelerators = context.gates.on(gate::kAccelerators);
  options.devices.rdma = context.gates.on(gate::kRdmaDevices);
  options.devices.xpuDir = flags_.xpuDir;
  options.devices.xpuOnly = flags_.xpuOnly;
  useGpuLibrary(flags_.nvmlLibrary);
  collect.gpus = options.devices.accelerators && !flags_.xpuOnly;
  options.watchPods = flags_.podSource == "api";
  options.kubelet.pods = !options.watchPods;
  options.kubelet.config = !flags_.noKubeletConfig;
  options.kubelet.interval = flags_.kubeletInterval;
  options.kubelet.kubelet = {
      flags_.addressType, flags_.kubeletTimeout, flags_.kubeletInsecure, flags_.kubeletReadOnlyPort,
      config_.token,      config_.tokenFile,     flags_.kubeletAuthority};
  options.trimMemory = true;
  options.historyDir = flags_.historyDir;
  options.configDir = flags_.stateDir.empty() ? flags_.historyDir : flags_.stateDir;
  options.report = flags_.reportNodeMetric;
  options.rightUnits = flags_.rightUnits;
  options.reportEveryInterval = flags_.reportEveryInterval;
  if (flags_.nearestRank) options.percentiles = stats::PercentileRule::kNearestRank;
  options.perCpuSeries = context.gates.on(gate::kPerCpuSeries);
  options.collect.storage = context.gates.on(gate::kBlkio);
  options.nodeMetricSeries = context.gates.on(gate::kNodeMetricSeries);
  options.seed = std::hash<std::string>()(options.node);
  return options;
}

// /metrics has everything; the two halves are there by themselves as the reference serves them.
void AgentRole::serve(frame::RoleContext& context) {
  context.health.live("tick", [verdict = verdict_]() {
    std::lock_guard lock(verdict->mutex);
    return verdict->live;
  });
  context.health.ready("agent", [verdict = verdict_]() {
    std::lock_guard lock(verdict->mutex);
    return verdict->ready;
  });
  if (context.ops == nullptr) return;
  Registry* internal = &context.metrics;
  Registry* external = &external_;
  context.ops->route("/metrics", [=](const net::HttpRequest&) {
    return exposition(internal->exposition() + external->exposition());
  });
  context.ops->route("/internal-metrics",
                     [=](const net::HttpRequest&) { return exposition(internal->exposition()); });
  context.ops->route("/external-metrics",
                     [=](const net::HttpRequest&) { return exposition(external->exposition()); });
}

// Everything the agent changes goes into the log, and the log is served when both gates say so.
void AgentRole::keepAudit(frame::RoleContext& context) {
  if (context.gates.on(gate::kAuditEvents))
    audit_ = std::make_shared<AuditEvents>(
        AuditOptions{.dir = flags_.auditDir,
                     .verbose = flags_.auditVerbose,
                     .mostDisk = kMiB * std::max<int64_t>(flags_.auditDiskMb, 0),
                     .mostReaders = static_cast<size_t>(std::max<int64_t>(flags_.auditReaders, 1)),
                     .mostEvents = static_cast<size_t>(std::max<int64_t>(flags_.auditEvents, 1))},
        context.clock);
  if (audit_ && enforcement_)
    enforcement_->audit().onAdd([audit = audit_](const AuditRecord& record) {
      audit->add(eventOf(record), auditLevel(record));
    });
  if (context.ops == nullptr || !context.gates.on(gate::kAuditHttp)) return;
  context.ops->route("/events", [audit = audit_](const net::HttpRequest& request) {
    return serveEvents(audit.get(), request);
  });
}

Result<> AgentRole::startPodResources(const frame::RoleContext& context) {
  if (!context.gates.on(gate::kPodResourcesProxy)) return {};
  auto proxy =
      PodResourcesProxy::start({.dir = flags_.podResourcesDir,
                                .kubelet = flags_.kubeletDir + "/pod-resources/kubelet.sock"});
  if (!proxy) return pass(proxy.error());
  podResources_ = *std::move(proxy);
  agent_->onLook([this](const Look& look) {
    if (podResources_) podResources_->follow(*look.book);
  });
  return {};
}

Result<> AgentRole::start(frame::RoleContext& context) {
  if (auto ok = flags_.check(); !ok) return ok;
  flags_.placeState();
  if (flags_.restore) return restoreAndQuit(flags_, context);
  for (const std::string& name : flags_.withoutEffect.given())
    log.warn("--{} is accepted and has no effect; --help says why", name);
  if (auto ok = connect(context); !ok) return ok;
  auto options = optionsFor(context);
  if (!options) return pass(options.error());
  auto agent = Agent::make({*client_, context.clock, context.owner, worker_->mailbox(),
                            context.metrics, external_, &context.io},
                           *std::move(options));
  if (!agent) return pass(agent.error());
  agent_ = std::move(*agent);
  verdict_->ready = fail(Code::kUnavailable, "no tick yet");
  agent_->onLook([this](const Look&) {
    std::lock_guard lock(verdict_->mutex);
    verdict_->live = agent_->liveness();
    verdict_->ready = agent_->readiness();
  });
  if (flags_.enforce)
    enforcement_ = std::make_unique<Enforcement>(
        EnforcementSetup{*agent_, *client_, worker_->mailbox(), context.owner, context.clock,
                         context.metrics, context.gates, context.ops, &context.io},
        enforcementOptions(flags_));
  almanac_ = keepAlmanac(
      *agent_, (flags_.stateDir.empty() ? flags_.checkpointDir : flags_.stateDir) + "/almanac",
      context.ops, context.clock, context.gates.on(gate::kSeasonalPrediction));
  serve(context);
  keepAudit(context);
  if (auto ok = startPodResources(context); !ok) return ok;
  agent_->start();
  log.info("node {}: cgroup v{}, driver {}, {} CPUs, kernel {}", agent_->options().node,
           agent_->machine().trees().isV2() ? 2 : 1,
           kernel::driverName(agent_->machine().layout().driver()),
           agent_->machine().cpus().cpus.size(), agent_->machine().can().kernelRelease());
  return {};
}

void AgentRole::onLook(LookHook hook) {
  if (agent_)
    agent_->onLook([this, hook = std::move(hook)](const Look& look) {
      hook(look, {enforcement_.get(), almanac_});
    });
}

void AgentRole::stop(Fn stopped) {
  podResources_.reset();
  enforcement_.reset();
  agent_.reset();
  worker_.reset();
  guard_.reset();
  client_.reset();
  stopped();
}

}  // namespace mangrove::agent
