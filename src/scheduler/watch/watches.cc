#include "scheduler/watch/watches.h"

#include <algorithm>

#include "base/os/log.h"
#include "client/informer/resource_version.h"
#include "placement/intake/transform.h"
#include "placement/intake/watched_pod.h"
#include "placement/plugins/deviceshare/args.h"
#include "placement/plugins/deviceshare/device_books.h"

namespace mangrove::scheduler {

namespace {
const Logger watchLog("scheduler");
}

template <class T>
struct Watches::Of final : Watched {
  Of(client::InformerSetup setup, std::function<void(T&)> transform, bool lackable)
      : informer(std::move(setup), std::move(transform)), mayLack(lackable) {}
  void start() override { informer.start(); }
  bool ready() const override {
    return informer.hasSynced() || (mayLack && informer.trouble().has_value());
  }
  client::Informer<T> informer;
  bool mayLack;
};

template <class T, class OnChange>
void Watches::add(const WatchSetup& setup, const api::Kind& kind, OnChange onChange,
                  std::function<void(T&)> transform, bool mayLack,
                  const std::pair<std::string, std::string>& only) {
  client::InformerSetup informer;
  informer.client = &setup.client;
  informer.owner = &setup.owner;
  informer.home = &setup.home;
  informer.clock = &setup.clock;
  informer.follow.kind = kind;
  informer.follow.ns = only.first;
  if (!only.second.empty()) informer.follow.fieldSelector = "metadata.name=" + only.second;
  informer.raw = client::RawKeep::kNone;
  informer.seed = setup.seed + all_.size();
  auto watched = std::make_unique<Of<T>>(std::move(informer), std::move(transform), mayLack);
  watched->informer.onChange([this, onChange](const client::Change<T>& change) {
    onChange(change);
    changed_();
  });
  all_.push_back(std::move(watched));
}

Watches::Watches(const WatchSetup& setup, Engine& engine, std::function<void()> changed)
    : engine_(engine), changed_(std::move(changed)) {
  addCore(setup);
  addWorkloads(setup);
  addStorage(setup);
  addColocation(setup);
  addGroups(setup);
  addTemplates(setup);
}

Watches::~Watches() = default;

void Watches::start() {
  for (auto& watched : all_) watched->start();
}

bool Watches::synced() const {
  return std::all_of(all_.begin(), all_.end(), [](const auto& w) { return w->ready(); });
}

void Watches::addCore(const WatchSetup& setup) {
  add<api::Node>(
      setup, api::kind::kNode, [this](const auto& c) { engine_.nodeChanged(c.before, c.after); },
      transformNode);
  std::function<void(WatchedPod&)> transform;
  if (setup.transforms.any())
    transform = [wanted = setup.transforms](WatchedPod& pod) { applyTransforms(pod, wanted); };
  add<WatchedPod>(
      setup, api::kind::kPod,
      [this](const auto& c) {
        const auto version = c.after ? client::versionNumber(c.after->meta.resourceVersion)
                                     : std::optional<uint64_t>();
        newestPod_ = std::max(newestPod_, version.value_or(0));
        engine_.podChanged(c.before, c.after);
      },
      std::move(transform));
  add<api::Namespace>(setup, api::kind::kNamespace,
                      [this](const auto& c) { engine_.namespaceChanged(c.key, c.after.get()); });
}

void Watches::addColocation(const WatchSetup& setup) {
  add<api::NodeMetric>(
      setup, api::kind::kNodeMetric,
      [this](const auto& c) {
        ClusterEvent event;
        event.kind = EventKind::kNodeMetric;
        event.label = "NodeMetric";
        event.row = engine_.cluster().putMetric(c.key, c.after);
        engine_.happened(event);
      },
      {}, true);
  add<api::NodeResourceTopology>(
      setup, api::kind::kNodeResourceTopology,
      [this](const auto& c) {
        ClusterEvent event;
        event.kind = EventKind::kNodeTopology;
        event.label = "NodeResourceTopology";
        event.row = engine_.cluster().putTopology(c.key, c.after);
        engine_.happened(event);
      },
      {}, true);
  add<api::Device>(
      setup, api::kind::kDevice,
      [this](const auto& c) {
        ClusterEvent event;
        event.kind = EventKind::kDevice;
        event.label = "Device";
        event.row = engine_.cluster().putDevice(c.key, c.after);
        engine_.happened(event);
      },
      {}, true);
}

void Watches::addGroups(const WatchSetup& setup) {
  add<api::PodGroup>(
      setup, api::kind::kPodGroup,
      [this](const auto& c) {
        engine_.cluster().putPodGroup(c.key, c.after);
        ClusterEvent event;
        event.kind = EventKind::kPodGroup;
        event.label = "PodGroup";
        engine_.happened(event);
      },
      {}, true);
  add<api::ElasticQuota>(
      setup, api::kind::kElasticQuota,
      [this](const auto& c) {
        engine_.cluster().putQuota(c.key, c.after);
        ClusterEvent event;
        event.kind = EventKind::kQuota;
        event.label = "ElasticQuota";
        engine_.happened(event);
      },
      {}, true);
  add<api::ClusterNetworkTopology>(
      setup, api::kind::kClusterNetworkTopology,
      [this](const auto& c) {
        if (c.key != "default") return;  // the only one that counts
        engine_.cluster().network = c.after;
        engine_.cluster().networkGeneration++;
      },
      {}, true);
}

// The shares that vendors' drivers can cut, from the one ConfigMap that the profiles name; what
// cannot be read leaves what was read before.
void Watches::addTemplates(const WatchSetup& setup) {
  const auto& books = engine_.cluster().deviceBooks;
  if (!books) return;
  const auto& profiles = engine_.config().profiles;
  const auto named = std::find_if(profiles.begin(), profiles.end(), [](const auto& profile) {
    return profile.args.contains("DeviceShare");
  });
  const auto args =
      readDeviceShareArgs(named == profiles.end() ? json::Value() : named->args.at("DeviceShare"));
  if (!args) return;  // the plugin has refused it already
  add<api::ConfigMap>(
      setup, api::kind::kConfigMap,
      [books](const auto& c) {
        const std::string* text = c.after ? c.after->find("data.yaml") : nullptr;
        auto templates = readGpuTemplates(text ? *text : "");
        if (!templates) return watchLog.warn("ConfigMap {}: {}", c.key, templates.error().text());
        books->putTemplates(std::move(*templates));
      },
      {}, true,
      {args->templatesNamespace.empty() ? engine_.config().leaderElection.resourceNamespace
                                        : args->templatesNamespace,
       args->templatesName});
}

// Kinds that are only looked up: kept by key, and told as one event.
template <class T>
void Watches::keep(const WatchSetup& setup, const api::Kind& kind, ObjectMap<T>& map,
                   EventKind event, uint64_t& generation) {
  add<T>(
      setup, kind,
      [this, &map, &generation, event, label = kind.kind](const client::Change<T>& change) {
        if (change.after)
          map.put(std::string(change.key), change.after);
        else
          map.erase(change.key);
        generation++;
        ClusterEvent happened;
        happened.kind = event;
        happened.label = label;
        engine_.happened(happened);
      },
      {}, true);
}

void Watches::addWorkloads(const WatchSetup& setup) {
  Cluster& c = engine_.cluster();
  const auto selectors = EventKind::kSelectors;
  keep(setup, api::kind::kService, c.services, selectors, c.selectorGeneration);
  keep(setup, api::kind::kReplicaSet, c.replicaSets, selectors, c.selectorGeneration);
  keep(setup, api::kind::kStatefulSet, c.statefulSets, selectors, c.selectorGeneration);
  keep(setup, api::kind::kReplicationController, c.replicationControllers, selectors,
       c.selectorGeneration);
  keep(setup, api::kind::kPodDisruptionBudget, c.budgets, selectors, c.budgetGeneration);
}

void Watches::addStorage(const WatchSetup& setup) {
  Storage& s = engine_.cluster().storage;
  const auto storage = EventKind::kStorage;
  keep(setup, api::kind::kPersistentVolume, s.volumes, storage, s.generation);
  keep(setup, api::kind::kPersistentVolumeClaim, s.claims, storage, s.generation);
  keep(setup, api::kind::kStorageClass, s.classes, storage, s.generation);
  keep(setup, api::kind::kCsiNode, s.nodes, storage, s.generation);
  keep(setup, api::kind::kCsiDriver, s.drivers, storage, s.generation);
  keep(setup, api::kind::kCsiStorageCapacity, s.capacities, storage, s.generation);
  keep(setup, api::kind::kVolumeAttachment, s.attachments, storage, s.generation);
}

}  // namespace mangrove::scheduler
