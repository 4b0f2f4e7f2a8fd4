#include "yarn/role.h"

#include "base/os/log.h"
#include "frame/role_flags.h"
#include "json/value.h"

namespace mangrove::yarn {
namespace {

const Logger log("yarn");

constexpr Duration kShowEvery = std::chrono::seconds(1);
constexpr std::string_view kGate = "YarnNodeManager";
constexpr GateInfo kGates[] = {
    {kGate, false, Maturity::kAlpha, "YARN's capacity follows what Kubernetes leaves"},
};

}  // namespace

YarnSyncRole::YarnSyncRole() = default;
YarnSyncRole::~YarnSyncRole() = default;

frame::RoleInfo YarnSyncRole::info() const {
  frame::RoleInfo info;
  info.name = "yarn sync";
  info.about = "gives YARN's NodeManagers what Kubernetes leaves of its batch resources";
  info.opsDefault = ":10261";
  info.gates = kGates;
  return info;
}

void YarnSyncRole::flags(frame::Flags& flags) {
  frame::refuseRecord(flags, "what YARN answers is not recorded, so nothing could be replayed");
  server_.declare(flags);
  flags.add("resourcemanager", managers_,
            "web address of the ResourceManager, http://HOST:8088; of a pair both");
  flags.add("yarn-user", user_, "administrator of YARN in whose name capacities are told");
  flags.add("cluster-id", options_.cluster,
            "NodeManagers with this yarn.hadoop.apache.org/cluster-id only; empty: all");
  flags.add("vcores-per-cpu", options_.capacity.vcoresPerCpu, "virtual cores that a core is");
  flags.add("memory-step-mb", options_.capacity.memoryStepMb, "capacities are multiples of this");
  flags.add("yarn-weight", options_.capacity.yarnWeight,
            "YARN's part where both want more, against --kubernetes-weight");
  flags.add("kubernetes-weight", options_.capacity.kubernetesWeight,
            "the part of Kubernetes' batch pods");
  leader_.declare(flags);
}

Result<> YarnSyncRole::check(const FeatureGates& gates) const {
  const CapacityOptions& capacity = options_.capacity;
  if (!gates.on(kGate))
    return invalid("gate {0} is off: give --feature-gates={0}=true when YARN shall share nodes",
                   kGate);
  if (managers_.empty()) return invalid("--resourcemanager is missing: want http://HOST:8088");
  if (capacity.vcoresPerCpu <= 0 || capacity.vcoresPerCpu > 1000)
    return invalid("--vcores-per-cpu: {}, want more than 0 and at most 1000",
                   capacity.vcoresPerCpu);
  if (capacity.memoryStepMb < 1)
    return invalid("--memory-step-mb: {}, want at least 1", capacity.memoryStepMb);
  if (capacity.yarnWeight < 0 || capacity.kubernetesWeight < 0 ||
      capacity.yarnWeight + capacity.kubernetesWeight <= 0)
    return invalid("--yarn-weight {} and --kubernetes-weight {}: want none below 0 and one above",
                   capacity.yarnWeight, capacity.kubernetesWeight);
  return {};
}

Result<> YarnSyncRole::connect(frame::RoleContext& context) {
  auto client = server_.connect(context, {.connections = 4, .userAgent = "mangrove-yarn-sync"});
  if (!client) return pass(client.error());
  client_ = std::move(*client);
  if (context.ops) guard_.emplace(*context.ops, *client_);
  worker_ = std::make_unique<client::Worker>();
  events_ = std::make_unique<client::EventRecorder>(
      *client_, worker_->mailbox(), context.clock,
      client::EventRecorderOptions{.component = "mangrove-yarn-sync", .metrics = &context.metrics});
  auto peers = ResourceManagers::make(context.io, context.owner, managers_, user_);
  if (!peers) return peers.error().in("--resourcemanager");
  peers_ = std::move(*peers);
  return {};
}

void YarnSyncRole::serve(frame::RoleContext& context) {
  context.health.ready("sync", [shown = shown_]() -> Result<> {
    std::lock_guard lock(shown->mutex);
    if (shown->waiting.empty()) return {};
    return fail(Code::kUnavailable, "{}", shown->waiting);
  });
  if (context.ops == nullptr) return;
  context.ops->route("/yarn", [shown = shown_](const net::HttpRequest&) {
    std::lock_guard lock(shown->mutex);
    return net::HttpResponse::json(200, shown->status);
  });
}

void YarnSyncRole::show() {
  {
    std::lock_guard lock(shown_->mutex);
    shown_->waiting = sync_->waitingFor();
    shown_->status = json::write(sync_->status());
  }
  showTimer_ = clock_->after(kShowEvery, [this] {
    owner_->post([this] {
      if (sync_) show();
    });
  });
}

// Two would tell the ResourceManager different things.
Result<> YarnSyncRole::compete(frame::RoleContext& context) {
  frame::Leader acts;
  acts.lead = [this] { sync_->lead(); };
  acts.yield = [this] {
    if (sync_) sync_->yield();
  };
  return leadership_.start(context, *client_, leader_.elect, leader_.config(), std::move(acts),
                           log);
}

Result<> YarnSyncRole::start(frame::RoleContext& context) {
  if (auto ok = check(context.gates); !ok) return ok;
  clock_ = &context.clock;
  owner_ = &context.owner;
  if (auto ok = connect(context); !ok) return ok;
  sync_ = std::make_unique<YarnSync>(
      SyncSetup{*client_, *owner_, worker_->mailbox(), *clock_, context.metrics, *events_, *peers_},
      options_);
  serve(context);
  sync_->start();
  show();
  return compete(context);
}

// Capacities stay as they were told; the Lease goes back last.
void YarnSyncRole::stop(Fn stopped) {
  showTimer_.reset();
  if (sync_) sync_->yield();
  leadership_.stop([this, stopped = std::move(stopped)]() mutable {
    sync_.reset();
    peers_.reset();
    events_.reset();
    worker_.reset();
    guard_.reset();
    client_.reset();
    stopped();
  });
}

}  // namespace mangrove::yarn
