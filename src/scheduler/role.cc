#include "scheduler/role.h"

#include <algorithm>
#include <future>

#include "base/os/files.h"
#include "base/os/log.h"
#include "base/text/strings.h"
#include "frame/verbosity.h"
#include "placement/engine/engine.h"
#include "scheduler/peer_flags.h"
#include "scheduler/service/pages.h"

namespace mangrove::scheduler {

namespace {

const Logger log("scheduler");

constexpr std::string_view kCrossNomination = "CrossSchedulerNomination";
constexpr std::string_view kSkipFilter = "SkipFilterWithNominatedPods";
constexpr std::string_view kPriority = "PriorityTransformer";
constexpr std::string_view kPreemption = "PreemptionPolicyTransformer";
constexpr std::string_view kReplace = "ReplaceResourcesTransformer";
constexpr std::string_view kManyTrees = "MultiQuotaTree";
constexpr std::string_view kIgnoreOverhead = "ElasticQuotaIgnorePodOverhead";
constexpr std::string_view kIgnoreTerminating = "ElasticQuotaIgnoreTerminatingPod";
constexpr std::string_view kIgnoreTerminatingNow = "ElasticQuotaImmediateIgnoreTerminatingPod";
constexpr std::string_view kGuaranteeUsage = "ElasticQuotaGuaranteeUsage";
constexpr std::string_view kNoDefaultQuota = "DisableDefaultQuota";
constexpr std::string_view kAdaption = "DevicePluginAdaption";
// Admission asks it; the scheduler counts pods of parent quotas and limits them either way.
constexpr std::string_view kParentQuotas = "SupportParentQuotaSubmitPod";
constexpr std::string_view kSaveFirst = "CheckpointPreemption";
constexpr std::string_view kEffective[] = {
    kCrossNomination, kSkipFilter,        kPriority,
    kPreemption,      kReplace,           kManyTrees,
    kIgnoreOverhead,  kIgnoreTerminating, kIgnoreTerminatingNow,
    kGuaranteeUsage,  kNoDefaultQuota,    kAdaption,
    kParentQuotas,    kSaveFirst};

// The reference's names and defaults, so that existing manifests start. Those without a sentence
// change nothing here: what those that are on ask for is always done.
constexpr GateInfo kGates[] = {
    {"DynamicSchedulerCheck", true, Maturity::kBeta, "look at the live pod before it is bound"},
    {"GangPendingPodsConditionPatch", true, Maturity::kBeta},
    {"EnableBatchScheduleNodeSnapshot", true, Maturity::kBeta},
    {"CSIStorageCapacity", true, Maturity::kGa},
    {"GenericEphemeralVolume", true, Maturity::kGa},
    {"PodDisruptionBudget", true, Maturity::kGa},
    {"CompatibleCSIStorageCapacity", false},
    {"DisableCSIStorageCapacityInformer", false},
    {"CompatiblePodDisruptionBudget", false},
    {"DisablePodDisruptionBudgetInformer", false},
    {"DisableDynamicResourceAllocationInformer", false},
    {"ResizePod", false},
    {kManyTrees, false, Maturity::kAlpha, "quota trees with totals of their own"},
    {kIgnoreOverhead, false, Maturity::kAlpha, "quotas do not count overhead"},
    {kIgnoreTerminating, false, Maturity::kAlpha, "pods past their grace period leave the quota"},
    {kIgnoreTerminatingNow, false, Maturity::kAlpha, "pods being deleted leave the quota at once"},
    {kGuaranteeUsage, false, Maturity::kAlpha, "what runs is a floor of a quota's runtime"},
    {kNoDefaultQuota, false, Maturity::kAlpha, "pods count in the quota they name, or in none"},
    {kParentQuotas, false, Maturity::kAlpha, "pods may name a quota that has children"},
    {kSaveFirst, false, Maturity::kAlpha, "victims that can save are asked and waited for"},
    {"LazyReservationRestore", false},
    {"OmitNodeLabelsForReservation", false},
    {"SkipReservationFitsNode", false},
    {kAdaption, false, Maturity::kAlpha, "tell vendors' device plugins which cards a pod has"},
    {"CleanExpiredReservationAllocated", false},
    {kSkipFilter, false, Maturity::kAlpha, "where pods are nominated, fit beside them only"},
    {"SyncBarrier", false},
    {kCrossNomination, false, Maturity::kAlpha, "keep room for what other schedulers nominate"},
    {"EnableInlineBatchSchedule", false},
    {kPriority, false, Maturity::kAlpha, "pods without a priority get that of their band"},
    {kPreemption, false, Maturity::kAlpha, "the preemption-policy label decides, Never without it"},
    {kReplace, false, Maturity::kAlpha, "apply the replace-resources annotation of pods"},
};

client::ElectionConfig leaseOf(const LeaderElectionConfig& config) {
  client::ElectionConfig lease;
  lease.ns = config.resourceNamespace;
  lease.name = config.resourceName;
  lease.leaseDuration = config.leaseDuration;
  lease.renewDeadline = config.renewDeadline;
  lease.retryPeriod = config.retryPeriod;
  return lease;
}

QuotaGates quotaGatesOf(const FeatureGates& gates) {
  return {gates.on(kManyTrees),         gates.on(kIgnoreOverhead),
          gates.on(kIgnoreTerminating), gates.on(kIgnoreTerminatingNow),
          gates.on(kGuaranteeUsage),    gates.on(kNoDefaultQuota)};
}

void warnOfGates(const FeatureGates& gates) {
  for (const GateInfo& gate : kGates)
    if (std::find(std::begin(kEffective), std::end(kEffective), gate.name) ==
            std::end(kEffective) &&
        gates.on(gate.name) != gate.onByDefault)
      log.warn("--feature-gates: {} has no effect in this version", gate.name);
}

}  // namespace

SchedulerRole::SchedulerRole() = default;
SchedulerRole::~SchedulerRole() = default;

frame::RoleInfo SchedulerRole::info() const {
  frame::RoleInfo info;
  info.name = "scheduler";
  info.about = "gives pods their nodes: Kubernetes' rules and those of colocation";
  info.opsFlag = "metrics-bind-address";
  info.opsDefault = ":10251";
  info.ownConfigFlag = true;
  info.gates = kGates;
  info.records = true;
  return info;
}

void SchedulerRole::flags(frame::Flags& flags) {
  flags.add("config", config_, "KubeSchedulerConfiguration file (kubescheduler.config.k8s.io/v1)");
  server_.declare(flags, "kube-api-qps", "kube-api-burst");
  flags.add("master", server_.server, "address of the API server, instead of the kubeconfig's");
  flags.add("scheduler-name", names_,
            "names to serve when there is no --config (default koord-scheduler,default-scheduler)");
  leader_.declare(flags);
  flags.add("scheduling-timeout", timeout_, "a cycle longer than this is logged and counted");
  flags.add("pod-max-in-unschedulable-pods-duration", longestInPool_,
            "a refused pod is tried again after this time even if nothing has happened");
  flags.add("debug-scores", debug_.topScores, "log the best N nodes of each decision with scores");
  flags.add("debug-filters", debug_.filters, "log who refused how many nodes");
  flags.add("debug-diagnosis", debug_.diagnosis, "log each failure as a line of JSON");
  flags.add("s", debug_.topScores, "the same as --debug-scores");
  flags.add("f", debug_.filters, "the same as --debug-filters");
  flags.add("d", debug_.diagnosis, "the same as --debug-diagnosis");
  auditFlags(flags);
  declarePeerFlags(flags, withoutEffect_);
}

void SchedulerRole::auditFlags(frame::Flags& flags) {
  flags.add("enable-workload-auditor", audit_.enabled,
            "log and count what is strange about the way of pods");
  flags.add("workload-auditor-metric-labels", auditLabels_,
            "more labels of its series: name=pod label, separated by commas");
  flags.add("workload-auditor-victim-reschedule-duration", audit_.longestReschedule,
            "from the end of the last victim to the next try");
  flags.add("workload-auditor-victim-deletion-duration", audit_.longestDeletion,
            "from preemption to the end of the last victim");
  flags.add("workload-auditor-victim-deleting-retries", audit_.mostRetries,
            "tries while victims are going");
  flags.add("workload-auditor-scheduling-event-interval", audit_.longestSilence,
            "between two things that happen to a pod");
}

Result<SchedulerConfig> SchedulerRole::loadConfig() {
  if (config_.empty()) {
    if (names_.empty()) names_ = {"koord-scheduler", "default-scheduler"};
    return defaultConfig(names_);
  }
  auto text = readFile(config_);
  if (!text) return text.error().in("--config");
  auto config = readConfig(*text, config_);
  if (!config) return config;
  for (const auto& warning : config->warnings) log.warn("{}: {}", config_, warning);
  return config;
}

Result<> SchedulerRole::connect(frame::RoleContext& context, const SchedulerConfig& config) {
  frame::ServerAccess where = server_;
  if (where.kubeconfig.empty()) where.kubeconfig = config.kubeconfig;
  if (where.perSecond <= 0) where.perSecond = config.qps.value_or(0);
  if (where.burst <= 0) where.burst = config.burst.value_or(0);
  auto client = where.connect(
      context, {.connections = kServerConnections, .userAgent = "mangrove-scheduler"});
  if (!client) return pass(client.error());
  client_ = std::move(*client);
  if (context.ops) guard_.emplace(*context.ops, *client_);
  return {};
}

Result<> SchedulerRole::start(frame::RoleContext& context) {
  auto config = loadConfig();
  if (!config) return pass(config.error());
  for (const auto& sentence : peerFlagWarnings(withoutEffect_)) log.warn("{}", sentence);
  const client::ElectionConfig lease = leader_.config(leaseOf(config->leaderElection));
  const bool elect = leader_.elect && config->leaderElection.leaderElect;
  config->longestInPool = longestInPool_;
  config->crossSchedulerNomination = context.gates.on(kCrossNomination);
  config->skipFilterWithNominatedPods = context.gates.on(kSkipFilter);
  config->transforms = {context.gates.on(kPriority), context.gates.on(kPreemption),
                        context.gates.on(kReplace)};
  config->quotaGates = quotaGatesOf(context.gates);
  config->devicePluginAdaption = context.gates.on(kAdaption);
  config->leaderElection.resourceNamespace = lease.ns;
  warnOfGates(context.gates);
  owner_ = &context.owner;
  if (auto ok = connect(context, *config); !ok) return ok;
  // Objects are read by the owner itself: handing them over costs more than reading them.
  SchedulerSetup setup{*client_,      context.clock,   context.owner,
                       context.owner, context.metrics, std::move(*config)};
  setup.victimsSave = context.gates.on(kSaveFirst);
  auto scheduler = Scheduler::make(std::move(setup));
  if (!scheduler) return pass(scheduler.error());
  scheduler_ = std::move(*scheduler);
  scheduler_->engine().debug() = debug_;
  scheduler_->engine().setSchedulingTimeout(timeout_);
  audit_.labels = auditorLabels(auditLabels_);
  if (audit_.enabled) scheduler_->engine().audit(audit_, context.metrics);
  context.health.ready("caches", [this]() -> Result<> {
    if (filled_.load()) return {};
    return fail(mangrove::Code::kUnavailable, "the caches are not filled yet");
  });
  serve(context);
  scheduler_->onFilled([this] { filled_ = true; });
  scheduler_->start();
  return compete(context, elect, lease);
}

// Pages are asked for on I/O threads; the answers are the owner's.
ServiceAnswer SchedulerRole::ask(Mailbox& owner, Page page) {
  auto answer = std::make_shared<std::promise<ServiceAnswer>>();
  auto future = answer->get_future();
  owner.post([this, answer, page = std::move(page)] {
    if (scheduler_) answer->set_value(page());  // null on the way out
  });
  if (future.wait_for(std::chrono::seconds(2)) != std::future_status::ready)
    return {503, R"({"message": "the scheduler is busy"})"};
  return future.get();
}

void SchedulerRole::serve(frame::RoleContext& context) {
  if (!context.ops) return;
  log.info("pages are on port {}", context.ops->port());
  Mailbox& owner = context.owner;
  context.ops->route("/apis/v1/", [this, &owner](const net::HttpRequest& request) {
    const std::string path = request.target.substr(0, request.target.find('?'));
    const ServiceAnswer got =
        ask(owner, [this, path] { return answerService(scheduler_->engine(), path, leading_); });
    return net::HttpResponse::json(got.status, got.body);
  });
  servePages(context);
}

void SchedulerRole::servePages(frame::RoleContext& context) {
  Mailbox& owner = context.owner;
  context.ops->route("/configz", [this, &owner](const net::HttpRequest&) {
    const ServiceAnswer got = ask(owner, [this]() -> ServiceAnswer {
      return {200, configPage(scheduler_->engine().config())};
    });
    return net::HttpResponse::json(got.status, got.body);
  });
  context.ops->route("/metrics/resources", [this, &owner](const net::HttpRequest&) {
    const ServiceAnswer got = ask(owner, [this]() -> ServiceAnswer {
      if (!leading_) return {503, "the instance is not leader\n"};
      return {200, resourcePage(scheduler_->engine().cluster())};
    });
    return net::HttpResponse::text(got.status, got.body);
  });
  context.ops->route("/debug/flags/", [this, &owner](const net::HttpRequest& request) {
    const std::string name = request.target.substr(std::string_view("/debug/flags/").size());
    if (request.method != "PUT") return net::HttpResponse::text(405, "want PUT\n");
    const ServiceAnswer got = ask(owner, [this, name, value = request.body] {
      DebugFlags& flags = scheduler_->engine().debug();
      ServiceAnswer answer = setDebugFlag(flags, name, trim(value));
      if (answer.status == 200 && name == "v") frame::setVerbosity(flags.verbosity);
      return answer;
    });
    return net::HttpResponse::text(got.status, got.body);
  });
}

Result<> SchedulerRole::compete(frame::RoleContext& context, bool elect,
                                const client::ElectionConfig& lease) {
  frame::Leader acts;
  acts.lead = [this] { setLeading(true); };
  // Another one decides from now on: a decision of ours would be a second one.
  acts.yield = [this] { setLeading(false); };
  return leadership_.start(context, *client_, elect, lease, std::move(acts), log);
}

void SchedulerRole::setLeading(bool leading) {
  leading_ = leading;
  if (scheduler_) scheduler_->setActive(leading);
}

// Bindings get their answers, the lease goes back, and then everything ends while the loop and the
// mailbox it uses are still there.
void SchedulerRole::stop(Fn stopped) {
  if (!scheduler_) return stopped();
  leadership_.standBack();
  scheduler_->stop([this, stopped = std::move(stopped)]() mutable {
    leadership_.stop([this, stopped = std::move(stopped)]() mutable {
      scheduler_.reset();
      guard_.reset();
      client_.reset();
      stopped();
    });
  });
}

}  // namespace mangrove::scheduler
