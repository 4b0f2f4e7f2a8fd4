#include "manager/manager.h"

#include <fmt/core.h>

#include "api/object/event.h"
#include "api/object/node_pause.h"
#include "api/wire/names.h"
#include "base/os/log.h"
#include "manager/controllers/colocationprofile/controller.h"
#include "manager/controllers/nodemetric/controller.h"
#include "manager/controllers/noderesource/controller.h"
#include "manager/controllers/nodeslo/controller.h"
#include "manager/controllers/quotaprofile/controller.h"
#include "manager/controllers/timepolicy/controller.h"
#include "manager/desk.h"
#include "manager/webhook/surroundings.h"

namespace mangrove::manager {
namespace {

namespace kind = client::kind;
const Logger log("manager");

// Pods come in bursts; their node is looked at once for all of them.
constexpr Duration kPodDelay = std::chrono::milliseconds(500);
// Writes under way at first: as many as there are connections, which a small server takes too.
constexpr size_t kFirstWindow = 64;
// How often we look whether the first lists are in.
constexpr Duration kReadyCheck = std::chrono::milliseconds(50);

PlanOptions planOptions(const ManagerOptions& options) {
  const auto on = [&](std::string_view name) {
    return isSwitchedOn(options.nodeResourcePlugins, name);
  };
  PlanOptions out;
  out.midResource = on("MidResource");
  out.batchResource = on("BatchResource");
  out.cpuNormalization = on("CPUNormalization");
  out.resourceAmplification = on("ResourceAmplification");
  out.gpuDeviceResource = on("GPUDeviceResource");
  out.rdmaDeviceResource = on("RDMADeviceResource");
  out.gpuShared = options.gpuShared;
  out.mostSpecificEnable = options.mostSpecificEnable;
  return out;
}

ProfileControllerOptions profileOptions(const ManagerOptions& options) {
  return {options.profilesByDefault, options.profileInterval, options.profilePodsPerSecond,
          options.profilePodsBurst};
}

CacheSetup cacheSetup(const ManagerParts& parts, const ManagerOptions& options, Clock& clock) {
  return {.client = parts.client,
          .owner = parts.owner,
          .home = parts.home,
          .clock = &clock,
          .metrics = parts.metrics,
          .seed = options.seed,
          .configNamespace = options.configNamespace,
          .configName = options.configName};
}

template <class Controller>
ControlLoop::Reconcile reconcileBy(Controller& controller) {
  return [&controller](const std::string& key, ControlLoop::Done done) {
    controller.reconcile(key, std::move(done));
  };
}

// What the sums of a node depend on; heartbeats are not among it.
bool matters(const api::Node& a, const api::Node& b) {
  return a.status.allocatable != b.status.allocatable || a.status.capacity != b.status.capacity ||
         a.meta.labels != b.meta.labels || a.meta.annotations != b.meta.annotations ||
         api::isPaused(a) != api::isPaused(b);
}

// What NodeMetric and NodeSLO are made from.
bool mattersToSpecs(const api::ObjectMeta& a, const api::ObjectMeta& b) {
  if (a.labels != b.labels) return true;
  for (auto key : {api::annotation::kColocationStrategy, api::annotation::kNetworkBandwidth})
    if (a.annotations.get(key) != b.annotations.get(key)) return true;
  return false;
}

bool mattersInTopology(const api::NodeResourceTopology& a, const api::NodeResourceTopology& b) {
  return a.zones != b.zones || a.meta.annotations != b.meta.annotations;
}

}  // namespace

class Manager::Impl {
 public:
  Impl(const ManagerParts& parts, ManagerOptions given)
      : options(std::move(given)),
        clock(parts.clock ? *parts.clock : realClock()),
        caches(cacheSetup(parts, options, clock)),
        desk{*parts.client, *parts.owner, clock,        *parts.metrics,
             caches,        window,       parts.events, false},
        metricController(desk),
        sloController(desk),
        quotaController(desk, cacheSetup(parts, options, clock)),
        timeController(desk, cacheSetup(parts, options, clock)),
        resourceController(
            desk, planOptions(options),
            [this](std::string_view node, Duration after) { resourceLoop.addAfter(node, after); }),
        metricLoop(clock, *parts.owner, window, "nodemetric", reconcileBy(metricController)),
        sloLoop(clock, *parts.owner, window, "nodeslo", reconcileBy(sloController)),
        quotaLoop(clock, *parts.owner, window, "quotaprofile", reconcileBy(quotaController)),
        timeLoop(clock, *parts.owner, window, "timepolicy", reconcileBy(timeController)),
        resourceLoop(clock, *parts.owner, window, "noderesource", reconcileBy(resourceController)) {
    if (options.profileController && isSwitchedOn(options.controllers, "colocationprofile"))
      profileController = std::make_unique<ColocationProfileController>(
          desk, cacheSetup(parts, options, clock), profileOptions(options));
    resourceController.useWindows([this](const api::Node& node, const MetricFacts* metric,
                                         std::span<const PodFacts* const> pods) {
      return timeController.report(node, metric, pods);
    });
    metricLoop.letFirst(resourceLoop);
    sloLoop.letFirst(resourceLoop);
    measure(*parts.metrics);
    listen();
  }

  std::vector<ControlLoop*> loops() {
    std::vector<ControlLoop*> out;
    if (isSwitchedOn(options.controllers, "nodemetric")) out.push_back(&metricLoop);
    if (isSwitchedOn(options.controllers, "nodeslo")) out.push_back(&sloLoop);
    if (isSwitchedOn(options.controllers, "noderesource")) out.push_back(&resourceLoop);
    if (isSwitchedOn(options.controllers, "timepolicy")) out.push_back(&timeLoop);
    if (isSwitchedOn(options.controllers, "quotaprofile")) out.push_back(&quotaLoop);
    return out;
  }

  void measure(Registry& metrics);
  void listen();
  void onNode(const client::Change<api::Node>& change);
  void onMetric(const client::Change<MetricSeen>& change);
  void onPod(const client::Change<PodSeen>& change);
  void onConfig(const client::Change<api::ConfigMap>& change);
  void load(const api::ConfigMap* map);
  void tellConfig();
  bool hasViews(std::string_view node) const;
  std::string waitingFor() const;
  void addEverything();
  void awaitReady(std::weak_ptr<Impl> self);
  void awaitAnswers(std::weak_ptr<Impl> self, Fn done);
  void begin();

  ManagerOptions options;
  Clock& clock;
  WriteWindow window{WriteWindow::Limits{.first = kFirstWindow}};
  Caches caches;
  Desk desk;
  NodeMetricController metricController;
  NodeSloController sloController;
  QuotaProfileController quotaController;
  TimePolicyController timeController;
  NodeResourceController resourceController;
  ControlLoop metricLoop, sloLoop, quotaLoop, timeLoop, resourceLoop;
  std::unique_ptr<ColocationProfileController> profileController;  // null: switched off
  // What people should find beside the ConfigMap that holds now.
  struct ConfigEvent {
    api::ObjectRef about;
    std::string reason, message;
  };
  std::vector<ConfigEvent> configEvents;
  Gauge windowGauge, configGauge;
  Timer readyTimer;
  Timer yieldTimer;
  bool ready = false;
};

void Manager::Impl::measure(Registry& metrics) {
  auto& writes = metrics.counters("mangrove_manager_writes_total",
                                  "Requests that changed something, by outcome.", {"result"});
  desk.writesSent = writes.with({"ok"});
  desk.writesFailed = writes.with({"failed"});
  windowGauge =
      metrics.gauge("mangrove_manager_write_window", "Writes that may be under way at once.");
  configGauge = metrics.gauge("mangrove_manager_config_present",
                              "1 while the ConfigMap with the strategies exists.");
  window.onRoom([this] { windowGauge.set(static_cast<double>(window.size())); });
}

void Manager::Impl::listen() {
  caches.configs.onChange([this](const auto& change) { onConfig(change); });
  caches.nodes.onChange([this](const auto& change) { onNode(change); });
  caches.metrics.onChange([this](const auto& change) { onMetric(change); });
  caches.pods.onChange([this](const auto& change) { onPod(change); });
  caches.slos.onChange([this](const client::Change<SloSeen>& change) { sloLoop.add(change.key); });
  caches.topologies.onChange([this](const client::Change<api::NodeResourceTopology>& change) {
    if (!change.before || !change.after || mattersInTopology(*change.before, *change.after))
      resourceLoop.add(change.key);
  });
  caches.devices.onChange(
      [this](const client::Change<api::Device>& change) { resourceLoop.add(change.key); });
}

void Manager::Impl::onNode(const client::Change<api::Node>& change) {
  const bool whole = !change.before || !change.after;
  const bool isNews =
      whole || (matters(*change.before, *change.after) &&
                !resourceController.isEcho(change.key, *change.before, *change.after));
  if (isNews) resourceLoop.add(change.key);
  // Our own taint may arrive after it has become wrong.
  if (whole || change.before->spec.taints != change.after->spec.taints) timeLoop.add(change.key);
  if (!whole && !mattersToSpecs(change.before->meta, change.after->meta)) return;
  metricLoop.add(change.key);
  sloLoop.add(change.key);
  timeLoop.add(change.key);
}

void Manager::Impl::onMetric(const client::Change<MetricSeen>& change) {
  if (change.after)
    timeController.noteReport(change.key, change.after->facts);
  else
    resourceController.forgetSync(std::string(change.key));
  const bool whole = !change.before || !change.after;
  if (whole || change.before->facts != change.after->facts) resourceLoop.add(change.key);
  if (whole || change.before->specDigest != change.after->specDigest) metricLoop.add(change.key);
}

void Manager::Impl::onPod(const client::Change<PodSeen>& change) {
  const bool same = change.before && change.after && change.before->node == change.after->node &&
                    change.before->facts == change.after->facts;
  if (same) return;
  for (const auto& pod : {change.before, change.after})
    if (pod && !pod->node.view().empty()) {
      if (hasViews(pod->node.view()))
        resourceLoop.add(pod->node.view());
      else
        resourceLoop.addAfter(pod->node.view(), kPodDelay);
      if (timeController.hasPolicies()) timeLoop.addAfter(pod->node.view(), kPodDelay);
    }
}

// What a pod takes under one name stays on offer under the others until they are written.
bool Manager::Impl::hasViews(std::string_view name) const {
  const auto node = caches.nodes.find(name);
  return node && node->meta.annotations.has(kWrittenViews);
}

void Manager::Impl::onConfig(const client::Change<api::ConfigMap>& change) {
  if (change.before && change.after && change.before->data == change.after->data) return;
  load(change.after.get());
  if (!change.after && change.before) {
    const auto note =
        fmt::format("{}/{} was deleted: every setting has its default now, nothing is sold",
                    options.configNamespace, options.configName);
    log.warn("{}", note);
    configEvents = {{api::refTo(kind::kConfigMap, change.before->meta), "ConfigMapDeleted", note}};
  }
  tellConfig();
  if (ready) addEverything();
}

void Manager::Impl::load(const api::ConfigMap* map) {
  if (map == nullptr)
    log.info("no ConfigMap {}/{}: every setting has its default", options.configNamespace,
             options.configName);
  configGauge.set(map ? 1 : 0);
  configEvents.clear();
  auto loaded = loadConfig(*desk.config, map ? &map->data : nullptr);
  for (const auto& finding : loaded.findings) {
    if (finding.severity != Severity::kError) {
      log.warn("{}", finding.text());
      continue;
    }
    log.error("{}", finding.text());
    if (map)
      configEvents.push_back({api::refTo(kind::kConfigMap, map->meta),
                              std::string(eventReasonOf(finding.key)), finding.note()});
  }
  desk.config = std::make_shared<const SloConfig>(std::move(loaded.state));
}

// Kept until somebody else's version comes: who begins to lead later tells it then.
void Manager::Impl::tellConfig() {
  for (const auto& event : configEvents) desk.warn(event.about, event.reason, event.message);
}

void Manager::Impl::addEverything() {
  caches.nodes.each([&](std::string_view key, const api::Node&) {
    for (auto* loop : {&resourceLoop, &metricLoop, &sloLoop, &timeLoop}) loop->add(key);
  });
  // Objects whose node went away while nobody led.
  caches.metrics.each([&](std::string_view key, const MetricSeen&) { metricLoop.add(key); });
  caches.slos.each([&](std::string_view key, const SloSeen&) { sloLoop.add(key); });
  quotaController.each([&](std::string_view key) { quotaLoop.add(key); });
}

// Time policies too: whoever plans without them sells by day what only the night allows.
std::string Manager::Impl::waitingFor() const {
  const auto lists = caches.waitingFor();
  const bool byClock = isSwitchedOn(options.controllers, "timepolicy");
  return lists.empty() && byClock ? timeController.waitingFor() : lists;
}

void Manager::Impl::awaitReady(std::weak_ptr<Impl> self) {
  if (waitingFor().empty()) return begin();
  readyTimer = clock.after(kReadyCheck, [self, owner = &desk.owner] {
    owner->post([self] {
      if (auto impl = self.lock()) impl->awaitReady(self);
    });
  });
}

void Manager::Impl::begin() {
  ready = true;
  if (!desk.config->colocation.available && caches.configs.size() == 0) load(nullptr);
  log.info("{} nodes, {} NodeMetrics, {} pods known", caches.nodes.size(), caches.metrics.size(),
           caches.pods.size());
  if (!desk.leads) return;
  addEverything();
  for (auto* loop : loops()) loop->run();
}

Manager::Manager(const ManagerParts& parts, ManagerOptions options)
    : impl_(std::make_shared<Impl>(parts, std::move(options))) {}

Manager::~Manager() = default;

void Manager::start() {
  impl_->caches.start();
  if (isSwitchedOn(impl_->options.controllers, "quotaprofile")) {
    ControlLoop& loop = impl_->quotaLoop;
    impl_->quotaController.start(
        [&loop](std::string_view key) { loop.add(key); },
        [&loop](std::string_view key, Duration d) { loop.addAfter(key, d); });
  }
  if (isSwitchedOn(impl_->options.controllers, "timepolicy"))
    impl_->timeController.start(
        [impl = impl_.get()](std::string_view node) {
          impl->timeLoop.add(node);
          impl->resourceLoop.add(node);
        },
        [&loop = impl_->timeLoop](std::string_view node, Duration d) { loop.addAfter(node, d); });
  if (impl_->profileController) impl_->profileController->start();
  impl_->awaitReady(impl_);
}

void Manager::lead() {
  impl_->desk.leads = true;
  impl_->tellConfig();
  impl_->timeController.lead();
  if (impl_->profileController) impl_->profileController->lead(true);
  if (impl_->ready) impl_->begin();
}

void Manager::yield(Fn done) {
  impl_->desk.leads = false;
  if (impl_->profileController) impl_->profileController->lead(false);
  for (auto* loop : impl_->loops()) loop->pause();
  if (done) impl_->awaitAnswers(impl_, std::move(done));
}

// Only waits: who leads again meanwhile is not stopped by the end of an earlier reign.
void Manager::Impl::awaitAnswers(std::weak_ptr<Impl> self, Fn done) {
  if (window.underWay() == 0) return done();
  yieldTimer = clock.after(std::chrono::milliseconds(20),
                           [self, owner = &desk.owner, done = std::move(done)]() mutable {
                             owner->post([self, done = std::move(done)]() mutable {
                               auto impl = self.lock();
                               if (!impl) return;
                               if (impl->window.underWay() > 0)
                                 return impl->awaitAnswers(self, std::move(done));
                               impl.reset();  // `done` may end us, and what our parts stand on
                               done();
                             });
                           });
}

bool Manager::leading() const {
  return impl_->desk.leads;
}

std::string Manager::waitingFor() const {
  return impl_->waitingFor();
}

bool Manager::idle() const {
  if (!impl_->desk.leads || !impl_->ready || impl_->window.underWay() > 0) return false;
  for (auto* loop : impl_->loops())
    if (!loop->idle()) return false;
  return true;
}

ManagerStats Manager::stats() const {
  return {static_cast<uint64_t>(impl_->desk.writesSent.value()),
          static_cast<uint64_t>(impl_->desk.writesFailed.value()), impl_->window.size()};
}

std::shared_ptr<const NodeGauges> Manager::nodeGauges() const {
  return impl_->resourceController.gauges();
}

SloConfigPtr Manager::config() const {
  return impl_->desk.config;
}

std::vector<NodeLabels> Manager::nodeLabels() const {
  std::vector<NodeLabels> out;
  impl_->caches.nodes.each([&](std::string_view key, const api::Node& node) {
    out.push_back({std::string(key), node.meta.labels});
  });
  return out;
}

}  // namespace mangrove::manager
