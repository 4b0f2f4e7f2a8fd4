#include "manager/controllers/noderesource/controller.h"

#include <cmath>

#include "api/object/event.h"
#include "api/wire/names.h"
#include "api/wire/write.h"
#include "client/informer/resource_version.h"
#include "manager/controllers/list.h"
#include "manager/controllers/noderesource/news.h"
#include "manager/controllers/noderesource/options.h"
#include "manager/controllers/pod_news.h"
#include "manager/switches.h"

namespace mangrove::manager {
namespace {

namespace kind = client::kind;

// How long a cache may lag behind our own write before the node is looked at anyway.
constexpr Duration kLongestLag = std::chrono::seconds(10);

double changeOf(const api::ResourceList& before, Interned name, const NodeWish& wish) {
  const auto* wanted = wish.resource(name);
  if (wanted == nullptr) return 0;
  const Quantity* had = before.find(name);
  const double old = had ? had->approximate() : 0;
  return std::abs((*wanted ? (*wanted)->approximate() : 0) - old);
}

client::Request zoneRequest(const api::NodeResourceTopology& topology,
                            const std::vector<api::Zone>& zones) {
  // The agent writes the same list: the version makes the server refuse ours if it did meanwhile.
  const json::Object body = {{"metadata", {{"resourceVersion", topology.meta.resourceVersion}}},
                             {"zones", api::toJson(zones)}};
  return client::patchRequest({kind::kNodeResourceTopology, "", topology.meta.name.str(), ""},
                              client::PatchType::kMerge, json::write(body));
}

void declareFlags(frame::Flags& flags, OwnOptions& own) {
  auto& options = own.of<NodeResourceOptions>();
  flags.add("noderesource-plugins", options.plugins,
            "which node-resource plugins run: '*', 'Name', '-Name'");
  flags.add("most-specific-enable", options.mostSpecificEnable,
            "let a node switch colocation on while the cluster has it off");
}

Result<> checkFlags(const OwnOptions& own) {
  return checkSwitches("noderesource-plugins", own.get<NodeResourceOptions>().plugins,
                       pluginNames());
}

}  // namespace

struct NodeResourceController::Pass {
  std::string name;
  std::shared_ptr<const api::Node> node;
  NodePlan plan;
  ControlLoop::Done done;
};

NodeResourceController::NodeResourceController(const ControllerSetup& setup)
    : desk_(setup.desk),
      keys_(setup.keys),
      options_(planOptions(setup.options.own.get<NodeResourceOptions>(), setup.options.gates)),
      count_(desk_.metrics, "slo_controller_node_resource_reconcile_count",
             "Passes over the resources of nodes."),
      plugins_(desk_.metrics, options_) {
  auto& churn =
      desk_.metrics.counters("mangrove_manager_reclaim_churn_total",
                             "Sum of the changes of what nodes sell, up and down.", {"resource"});
  churnCpu_ = churn.with({std::string(api::resource::kBatchCpu)});
  churnMemory_ = churn.with({std::string(api::resource::kBatchMemory)});
  desk_.windows.changed = [this](std::string_view node) { keys_.add(node); };
}

void NodeResourceController::start() {
  auto& caches = desk_.caches;
  caches.nodes.onChange([this](const auto& change) { onNode(change); });
  caches.metrics.onChange([this](const auto& change) { onMetric(change); });
  caches.pods.onChange([this](const auto& change) { onPod(change); });
  caches.rooms.onChange([this](const auto& change) { onRoom(change); });
  caches.topologies.onChange([this](const client::Change<api::NodeResourceTopology>& change) {
    if (!change.before || !change.after || isNews(*change.before, *change.after))
      keys_.add(change.key);
  });
  caches.devices.onChange(
      [this](const client::Change<api::Device>& change) { keys_.add(change.key); });
}

void NodeResourceController::each(const Visit& visit) const {
  desk_.caches.nodes.each([&](std::string_view key, const api::Node&) { visit(key); });
}

void NodeResourceController::onNode(const client::Change<api::Node>& change) {
  const bool whole = !change.before || !change.after;
  if (whole ||
      (isNews(*change.before, *change.after) && !isEcho(change.key, *change.before, *change.after)))
    keys_.add(change.key);
}

// Without its NodeMetric the next pass of a node counts as the first one.
void NodeResourceController::onMetric(const client::Change<MetricSeen>& change) {
  const auto state = states_.find(std::string(change.key));
  if (!change.after && state != states_.end()) state->second.lastStatusWrite.reset();
  if (!change.before || !change.after || change.before->facts != change.after->facts)
    keys_.add(change.key);
}

void NodeResourceController::onPod(const client::Change<PodSeen>& change) {
  for (const auto& node : nodesWithNews(change)) {
    if (hasViews(node))
      keys_.add(node);
    else
      keys_.addAfter(node, kPodDelay);
  }
}

void NodeResourceController::onRoom(const client::Change<RoomSeen>& change) {
  for (const auto& node : nodesWithNews(change)) keys_.addAfter(node, kPodDelay);
}

// What a pod takes under one name stays on offer under the others until they are written.
bool NodeResourceController::hasViews(std::string_view name) const {
  const auto node = desk_.caches.nodes.find(name);
  return node && node->meta.annotations.has(kWrittenViews);
}

NodePlan NodeResourceController::plan(const api::Node& node, State& state) {
  static const NodeMemory kNothing;
  const std::string name = node.meta.name.str();
  const auto pods = desk_.caches.podsOn(name);
  const auto rooms = desk_.caches.roomsOn(name);
  const auto metric = desk_.caches.metrics.find(name);
  const auto topology = desk_.caches.topologies.find(name);
  const auto device = desk_.caches.devices.find(name);
  PlanInputs in{.node = node,
                .pods = pods,
                .rooms = rooms,
                .metric = metric ? &metric->facts : nullptr,
                .topology = topology.get(),
                .device = device.get(),
                .config = *desk_.config,
                .options = options_,
                .memory = state.memory ? *state.memory : kNothing,
                .now = desk_.clock.wall()};
  if (desk_.windows.report) in.window = desk_.windows.report(node, in.metric, pods);
  return planNode(in);
}

void NodeResourceController::reconcile(const std::string& name, ControlLoop::Done done) {
  const auto node = desk_.caches.nodes.find(name);
  if (!node) {
    states_.erase(name);
    echoes_.erase(name);
    desk_.gauges->remove(name);
    return done({});
  }
  if (!desk_.config->colocation.available) {
    count_.bad("configUnavailable");
    return done({});
  }
  if (awaitsEcho(name, *node)) return done({});
  State& state = states_[name];
  auto pass = std::make_shared<Pass>(Pass{name, node, plan(*node, state), std::move(done)});
  const auto& kept = pass->plan.memory;
  const bool keep = kept.steadyCpu.published || kept.steadyMemory.published;
  state.memory = keep ? std::make_unique<NodeMemory>(kept) : nullptr;
  if (pass->plan.lookAgain) again(name, *pass->plan.lookAgain);
  note(name, *node, pass->plan);
  writeZones(std::move(pass));
}

// The cache is behind our own write: the echo brings the node back, or the clock does.
bool NodeResourceController::awaitsEcho(const std::string& name, const api::Node& node) {
  const auto echo = echoes_.find(name);
  if (echo == echoes_.end()) return false;
  if (client::surelyOlder(node.meta.resourceVersion, echo->second.written)) {
    echo->second.isAwaited = true;
    again(name, kLongestLag);
    return true;
  }
  echoes_.erase(echo);
  return false;
}

bool NodeResourceController::isEcho(std::string_view name, const api::Node& before,
                                    const api::Node& after) {
  const auto found = echoes_.find(std::string(name));
  if (found == echoes_.end()) return false;
  Echo& echo = found->second;
  if (before.meta.resourceVersion != echo.planned || !sameInputs(before, after)) return false;
  if (echo.written.empty()) {
    echo.seen = after.meta.resourceVersion;
    return true;
  }
  const bool isOurWrite = echo.written == after.meta.resourceVersion && !echo.isAwaited;
  if (isOurWrite) echoes_.erase(found);
  return isOurWrite;
}

// The echo may have come before the answer. If what came was somebody else's, it was not looked at.
void NodeResourceController::noteWritten(const std::string& name, const std::string& version) {
  const auto found = echoes_.find(name);
  if (found == echoes_.end()) return;
  found->second.written = version;
  if (found->second.seen.empty()) return;
  if (found->second.seen != version) again(name, Duration::zero());
  echoes_.erase(found);
}

void NodeResourceController::note(const std::string& name, const api::Node& node,
                                  const NodePlan& plan) {
  plugins_.passed(plan);
  tell(node, plan, states_[name]);
  NodeGauges::Values values;
  const auto& names = api::resourceNames();
  const Interned columns[] = {names.batchCpu, names.batchMemory, names.midCpu, names.midMemory};
  for (size_t i = 0; i < values.size(); i++) {
    const auto* wanted = plan.wish.resource(columns[i]);
    values[i] = wanted && *wanted ? (*wanted)->value() : NodeGauges::kNone;
  }
  desk_.gauges->set(name, values);
}

// Annotations of the node that are not used, once per wording: an Event per report would be a write
// per report.
void NodeResourceController::tell(const api::Node& node, const NodePlan& plan, State& state) {
  uint64_t digest = 0;
  for (const auto& trouble : plan.troubles) digest ^= podKey(trouble.plugin, trouble.message);
  if (digest == std::exchange(state.told, digest)) return;
  for (const auto& trouble : plan.troubles)
    if (trouble.plugin == "ColocationStrategy" || trouble.plugin == "NodeReservation")
      desk_.warn(api::refTo(kind::kNode, node.meta), std::string(trouble.plugin) + "Invalid",
                 trouble.message);
}

void NodeResourceController::writeZones(std::shared_ptr<Pass> pass) {
  const auto topology = desk_.caches.topologies.find(pass->name);
  if (!topology || pass->plan.zones.empty()) return writeNode(std::move(pass));
  auto zones = topology->zones;
  const SyncRule rule = syncRule(pass->plan.strategy.strategy, pass->plan.byClock, {});
  if (!updateZones(zones, pass->plan.zones, rule.diffThreshold, pass->plan.normalization,
                   rule.dropsAtOnce))
    return writeNode(std::move(pass));
  desk_.send(zoneRequest(*topology, zones), [this, pass](Result<client::Reply> reply) mutable {
    // A lost race is settled by the event of whoever won it; the node itself must not wait.
    plugins_.zonesWritten(reply || reply.error().code() == Code::kConflict ||
                          reply.error().code() == Code::kNotFound);
    writeNode(std::move(pass));
  });
}

void NodeResourceController::writeNode(std::shared_ptr<Pass> pass) {
  State& state = states_[pass->name];
  std::optional<Duration> since;
  if (state.lastStatusWrite) since = desk_.clock.mono() - *state.lastStatusWrite;
  const SyncRule rule = syncRule(pass->plan.strategy.strategy, pass->plan.byClock, since);
  const auto verdict = judgeSync(ownedOf(*pass->node), granted(*pass->node, pass->plan.wish), rule);
  json::Object patch;
  if (verdict.any()) patch = patchOf(*pass->node, pass->plan.wish, {verdict.status, true});
  if (verdict.status && !patch.contains("status")) state.lastStatusWrite = desk_.clock.mono();
  if (patch.empty()) {
    count_.good();
    return pass->done({});
  }
  const bool isStatus = patch.contains("status");
  sendNode(std::move(pass), std::move(patch), isStatus);
}

// The status subresource takes metadata along, so one request does for both.
void NodeResourceController::sendNode(std::shared_ptr<Pass> pass, json::Object patch,
                                      bool isStatus) {
  echoes_[pass->name] = Echo{.planned = pass->node->meta.resourceVersion};
  client::Ref ref{kind::kNode, "", pass->name, isStatus ? "status" : ""};
  auto request =
      client::patchRequest(std::move(ref), client::PatchType::kMerge, json::write(patch));
  desk_.send(std::move(request), [this, pass, isStatus](Result<client::Reply> reply) mutable {
    onNodeWritten(std::move(pass), std::move(reply), isStatus);
  });
}

void NodeResourceController::onNodeWritten(std::shared_ptr<Pass> pass, Result<client::Reply> reply,
                                           bool isStatus) {
  if (!reply) echoes_.erase(pass->name);
  if (!reply && reply.error().code() == Code::kNotFound) return pass->done({});
  if (!reply) {
    count_.bad("updateNodeFailed");
    return pass->done(Failure(reply.error()));
  }
  State& state = states_[pass->name];
  if (isStatus) {
    state.lastStatusWrite = desk_.clock.mono();
    countChurn(*pass->node, pass->plan.wish);
  }
  // The head alone: the whole node comes by the watch.
  auto head = api::decodeText<api::ObjectHead>(reply->body);
  if (head) {
    noteWritten(pass->name, head->meta.resourceVersion);
    api::Node after;
    after.meta = std::move(head->meta);
    // A server that keeps metadata out of status writes gets them separately.
    auto rest = patchOf(after, pass->plan.wish, {false, true});
    if (isStatus && !rest.empty()) return sendNode(std::move(pass), std::move(rest), false);
  }
  count_.good();
  pass->done({});
}

void NodeResourceController::countChurn(const api::Node& before, const NodeWish& wish) {
  const auto& names = api::resourceNames();
  churnCpu_.inc(changeOf(before.status.allocatable, names.batchCpu, wish));
  churnMemory_.inc(changeOf(before.status.allocatable, names.batchMemory, wish));
}

ControllerInfo controllers::noderesource() {
  return {.name = "noderesource",
          .make = makeController<NodeResourceController>,
          .access = {{kind::kNode, "list watch patch"},
                     {kind::kNode, "patch", "status"},
                     {kind::kPod, kFollow},
                     {kind::kReservation, kFollow},
                     {kind::kNodeMetric, kFollow},
                     {kind::kDevice, kFollow},
                     {kind::kNodeResourceTopology, "list watch patch"}},
          .moreGates = {kSyncGpuShared},
          .flags = declareFlags,
          .check = checkFlags};
}

}  // namespace mangrove::manager
