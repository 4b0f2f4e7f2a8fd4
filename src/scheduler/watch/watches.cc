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
    : engine_(engine), ingress_(engine), changed_(std::move(changed)) {
  addCore(setup);
  addKept(setup);
  addTemplates(setup);
}

Watches::~Watches() = default;

void Watches::start() {
  for (auto& watched : all_) watched->start();
}

bool Watches::synced() const {
  return std::all_of(all_.begin(), all_.end(), [](const auto& w) { return w->ready(); });
}

uint64_t Watches::newestReservation() const {
  uint64_t newest = 0;
  engine_.cluster().reservations.each([&](const placement::ReservationPtr& entry) {
    if (!entry->object) return;
    const auto version = client::versionNumber(entry->object->meta.resourceVersion);
    newest = std::max(newest, version.value_or(0));
  });
  return newest;
}

void Watches::addCore(const WatchSetup& setup) {
  add<api::Node>(
      setup, api::kind::kNode, [this](const auto& c) { ingress_.node(c.before, c.after); },
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
        ingress_.pod(c.before, c.after);
      },
      std::move(transform));
  add<api::Namespace>(setup, api::kind::kNamespace,
                      [this](const auto& c) { ingress_.ns(c.key, c.after.get()); });
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

// What a cluster may lack.
void Watches::addKept(const WatchSetup& setup) {
#define INGRESS(type, which, take)                                                           \
  add<type>(                                                                                 \
      setup, api::kind::which, [this](const auto& c) { ingress_.take(c.key, c.after); }, {}, \
      true);
#include "placement/engine/ingress.def"
#undef INGRESS
}

}  // namespace mangrove::scheduler
