#include "placement/testing/lab.h"

#include <set>

#include <fmt/core.h>

#include "api/object/event.h"
#include "api/wire/kind.h"
#include "base/check.h"
#include "base/text/time_text.h"
#include "json/merge_patch.h"
#include "json/yaml.h"
#include "placement/intake/transform.h"
#include "placement/plugins/registry.h"
#include "placement/reservation/reserve_pod.h"

namespace mangrove::placement {

namespace {

// A Sunday in March; any fixed time will do.
constexpr WallTime kStart{std::chrono::seconds(1'772'366'400)};

json::Value parsed(std::string_view text) {
  auto value = json::parseYamlDocument(text, "lab");
  CHECK(value.has_value(), "{}", value.error().text());
  return std::move(*value);
}

template <class T>
T decoded(const json::Value& value) {
  auto out = api::decodeText<T>(json::write(value));
  CHECK(out.has_value(), "{}", out.error().text());
  return std::move(*out);
}

}  // namespace

Lab::Lab(SchedulerConfig config) : Lab(std::move(config), pluginEntries()) {}

Lab::Lab(SchedulerConfig config, std::span<const PluginEntry> known)
    : config_(std::move(config)), known_(known), clock_(kStart) {
  begin();
}

void Lab::begin() {
  engine_ = std::make_unique<Engine>(clock_, *this, registry_);
  auto ok = engine_->configure(config_, known_);
  CHECK(ok.has_value(), "{}", ok.error().text());
}

void Lab::restart(const std::function<bool()>& gotThere) {
  for (Pending& binding : std::exchange(pending_, {}))
    if (gotThere()) confirm(std::move(binding));
  for (const Write& write : std::exchange(writes_, {}))
    if (gotThere()) apply(write.patch);
  for (const auto& [key, done] : std::exchange(deletions_, {}))
    if (gotThere()) removePod(key);
  // The answers die with whoever waited for them.
  pending_.clear();
  writes_.clear();
  deletions_.clear();
  volumes_.clear();
  engine_.reset();
  begin();
  for (const auto& [name, node] : nodes_) engine_->nodeChanged(nullptr, node);
  for (const auto& [name, reserved] : reservations_)
    engine_->reservationChanged(nullptr, reserved.object);
  for (const auto& [key, pod] : pods_)
    if (pod) engine_->podChanged(nullptr, pod);
}

Lab::~Lab() = default;

void Lab::node(std::string_view text) {
  auto node = decoded<api::Node>(parsed(text));
  transformNode(node);
  if (!node.status.allocatable.has("pods")) node.status.allocatable.set("pods", Quantity::of(110));
  auto& slot = nodes_[node.meta.name.str()];
  const auto before = slot;
  slot = std::make_shared<api::Node>(std::move(node));
  engine_->nodeChanged(before, slot);
}

void Lab::removeNode(std::string_view name) {
  const auto at = nodes_.find(std::string(name));
  if (at == nodes_.end()) return;
  engine_->nodeChanged(at->second, nullptr);
  nodes_.erase(at);
}

void Lab::pod(std::string_view text) {
  auto pod = decoded<api::Pod>(parsed(text));
  transformPod(pod);
  applyTransforms(pod, engine_->config().transforms);
  if (pod.meta.ns.empty()) pod.meta.ns = Interned("default");
  const std::string key = pod.meta.ns.str() + "/" + pod.meta.name.str();
  auto& slot = pods_[key];
  if (pod.meta.uid.empty())
    pod.meta.uid =
        slot ? slot->meta.uid : api::Uid(fmt::format("00000000-0000-4000-8000-{:012x}", ++uids_));
  if (slot && pod.nodeName.empty()) pod.nodeName = slot->nodeName;
  const auto before = slot;
  slot = std::make_shared<api::Pod>(std::move(pod));
  engine_->podChanged(before, slot);
}

void Lab::removePod(std::string_view name) {
  const auto at = pods_.find(keyFor(name));
  if (at == pods_.end()) return;
  const auto pod = at->second;
  pods_.erase(at);
  engine_->podChanged(pod, nullptr);
}

void Lab::showReservation(Reserved& reserved, json::Value json) {
  const auto before = reserved.object;
  json.as_object()["metadata"].as_object()["resourceVersion"] = std::to_string(++versions_);
  reserved.json = std::move(json);
  reserved.object = std::make_shared<api::Reservation>(decoded<api::Reservation>(reserved.json));
  engine_->reservationChanged(before, reserved.object);
}

void Lab::reservation(std::string_view text) {
  json::Value json = parsed(text);
  json::Object& meta = json.as_object()["metadata"].as_object();
  const std::string name(meta["name"].as_string());
  Reserved& slot = reservations_[name];
  if (slot.object) {
    meta["uid"] = slot.object->meta.uid.str();
    if (const json::Value* status = slot.json.as_object().if_contains("status"))
      json.as_object()["status"] = *status;
  }
  if (!meta.contains("uid")) meta["uid"] = fmt::format("00000000-0000-4000-9000-{:012x}", ++uids_);
  if (!meta.contains("creationTimestamp")) meta["creationTimestamp"] = formatTime(clock_.wall());
  showReservation(slot, std::move(json));
}

void Lab::removeReservation(std::string_view name) {
  const auto at = reservations_.find(std::string(name));
  if (at == reservations_.end()) return;
  const auto object = at->second.object;
  reservations_.erase(at);
  engine_->reservationChanged(object, nullptr);
}

std::shared_ptr<const api::Reservation> Lab::findReservation(std::string_view name) const {
  const auto at = reservations_.find(std::string(name));
  return at == reservations_.end() ? nullptr : at->second.object;
}

void Lab::applyToReservation(const ObjectPatch& patch) {
  const auto at = reservations_.find(patch.name);
  if (at == reservations_.end()) return;
  if (patch.remove) return removeReservation(patch.name);
  json::Value json = at->second.json;
  json::applyMergePatch(json, patch.body);
  showReservation(at->second, std::move(json));
}

// Only annotations are written to pods.
void Lab::applyToPod(const ObjectPatch& patch) {
  auto& slot = pods_[patch.ns + "/" + patch.name];
  if (!slot) return;
  auto after = std::make_shared<api::Pod>(*slot);
  const json::Value body = patch.body;
  for (const auto& [key, value] : body.at("metadata").at("annotations").as_object())
    after->meta.annotations.set(key, std::string_view(value.as_string()));
  const auto before = std::exchange(slot, after);
  engine_->podChanged(before, slot);
}

void Lab::apply(const ObjectPatch& patch) {
  if (patch.kind->kind == "Pod") applyToPod(patch);
  if (patch.kind->kind == "Reservation") applyToReservation(patch);
}

// All that are not slow; whether there was one.
bool Lab::answerWrites() {
  std::vector<Write> writes = std::exchange(writes_, {});
  bool any = false;
  std::set<std::string> behind;  // an object's writes stay in their order
  for (Write& write : writes) {
    if (behind.contains(write.patch.name) || (isSlow && isSlow(write.patch))) {
      behind.insert(write.patch.name);
      writes_.push_back(std::move(write));
      continue;
    }
    any = true;
    write.done({});
    apply(write.patch);
    if (afterWrite) afterWrite();
  }
  return any;
}

size_t Lab::run() {
  size_t tried = 0;
  for (bool busy = true; busy;) {
    busy = false;
    while (engine_->scheduleOne()) tried++;
    auto volumes = std::exchange(volumes_, {});
    for (auto& [notes, done] : volumes) {
      done({});
      for (const VolumeNote& note : notes)
        if (bindsClaims) bindClaim(note);
    }
    auto pending = std::exchange(pending_, {});
    for (auto& binding : pending) confirm(std::move(binding));
    const bool wrote = answerWrites();
    auto deletions = std::exchange(deletions_, {});
    for (auto& [key, done] : deletions) {
      done({});
      if (!keepVictims) removePod(key);
    }
    busy = !volumes.empty() || !pending.empty() || !deletions.empty() || wrote;
  }
  return tried;
}

void Lab::wait(Duration duration) {
  for (; duration > Duration::zero(); duration -= std::chrono::seconds(1)) {
    clock_.advance(std::min<Duration>(duration, std::chrono::seconds(1)));
    engine_->tick();
    if (!reservations_.empty()) engine_->report();  // whose statuses are shown again
    run();
  }
}

void Lab::confirm(Pending pending) {
  if (refuseBindings || (refusesBinding && refusesBinding(pending.key))) {
    pending.done(fail(mangrove::Code::kUnavailable, "the server is away"));
    return;
  }
  pending.done({});
  auto& slot = pods_[pending.key];
  if (!slot) return;
  const auto before = slot;
  auto bound = std::make_shared<api::Pod>(*before);
  bound->nodeName = Interned(pending.node);
  for (const auto& [key, value] : pending.notes.annotations)
    bound->meta.annotations.set(key, value);
  api::Condition scheduled;
  scheduled.type = Interned("PodScheduled");
  scheduled.status = api::Truth::kTrue;
  scheduled.lastTransitionTime = clock_.wall();
  bound->status.conditions = {scheduled};
  bound->status.startTime = clock_.wall();
  slot = bound;
  engine_->podChanged(before, slot);
}

void Lab::bindVolumes(const std::vector<VolumeNote>& notes, Done done) {
  volumes_.emplace_back(notes, std::move(done));
}

void Lab::bindClaim(const VolumeNote& note) {
  Storage& storage = cluster().storage;
  const auto known = storage.claims.find(note.claim);
  if (!known) return;
  auto claim = std::make_shared<api::PersistentVolumeClaim>(*known);
  const auto existing = storage.volumes.find(note.volume);
  auto volume = existing ? std::make_shared<api::PersistentVolume>(*existing)
                         : std::make_shared<api::PersistentVolume>();
  if (!existing) {
    volume->meta.name = api::Text("made-for-" + claim->meta.name.str());
    volume->capacity = claim->requests;
    if (claim->storageClassName) volume->storageClassName = *claim->storageClassName;
    if (const auto cls = storage.classes.find(volume->storageClassName.view()))
      volume->csiDriver = cls->provisioner;
    volume->csiHandle = volume->meta.name;
  }
  volume->claimRef = api::refTo(api::kind::kPersistentVolumeClaim, claim->meta);
  volume->phase = Interned("Bound");
  claim->volumeName = volume->meta.name;
  claim->phase = Interned("Bound");
  storage.volumes.put(volume->meta.name.str(), volume);
  storage.claims.put(note.claim, claim);
  storage.generation++;
  ClusterEvent event;
  event.kind = EventKind::kStorage;
  event.label = "PersistentVolumeClaim";
  engine_->happened(event);
}

std::string Lab::keyFor(std::string_view pod) const {
  return pod.find('/') == std::string_view::npos ? "default/" + std::string(pod) : std::string(pod);
}

std::shared_ptr<const api::Pod> Lab::find(std::string_view pod) const {
  const auto at = pods_.find(keyFor(pod));
  return at == pods_.end() ? nullptr : at->second;
}

std::string Lab::nodeOf(std::string_view pod) const {
  const auto found = find(pod);
  return found ? found->nodeName.str() : "";
}

std::string Lab::said(std::string_view pod) const {
  const auto at = said_.find(keyFor(pod));
  return at == said_.end() ? "" : at->second;
}

std::string Lab::annotation(std::string_view pod, std::string_view key) const {
  const auto found = find(pod);
  return found ? std::string(found->meta.annotations.get(key).value_or("")) : "";
}

std::vector<std::string> Lab::takeLog() {
  return std::exchange(log_, {});
}

void Lab::bind(const PodInfo& pod, std::string_view node, const BindNotes& notes, Done done) {
  pending_.push_back({pod.pod->meta.ns.str() + "/" + pod.pod->meta.name.str(), std::string(node),
                      notes, std::move(done)});
}

void Lab::scheduled(const api::Pod& pod, std::string_view node, std::string_view) {
  log_.push_back(fmt::format("{} -> {}", pod.meta.name.view(), node));
}

void Lab::failed(const api::Pod& pod, const PodFailure& failure, std::string_view) {
  said_[pod.meta.ns.str() + "/" + pod.meta.name.str()] = failure.message;
  log_.push_back(fmt::format("{} {}: {}", pod.meta.name.view(), failure.reason, failure.message));
  if (!failure.nominatedNode.empty())
    log_.push_back(fmt::format("{} nominated to {}", pod.meta.name.view(), failure.nominatedNode));
}

void Lab::preempt(const api::Pod& victim, const api::Pod& preemptor, std::string_view,
                  std::string_view loss, Done done) {
  if (!loss.empty()) losses[victim.meta.name.str()] = loss;
  log_.push_back(
      fmt::format("{} preempted by {}", victim.meta.name.view(), preemptor.meta.name.view()));
  deletions_.emplace_back(victim.meta.ns.str() + "/" + victim.meta.name.str(), std::move(done));
}

void Lab::evict(const api::Pod& pod, std::string_view reason, Done done) {
  log_.push_back(fmt::format("{} evicted: {}", pod.meta.name.view(), reason));
  deletions_.emplace_back(pod.meta.ns.str() + "/" + pod.meta.name.str(), std::move(done));
}

void Lab::deviceTrouble(const api::Pod& pod, const std::string& what, std::string_view) {
  log_.push_back(fmt::format("{} device: {}", pod.meta.name.view(), what));
}

void Lab::overcommitted(const api::Pod& standIn, const std::string& what, std::string_view) {
  log_.push_back(fmt::format("{} over: {}", reservationNameOf(standIn), what));
}

void Lab::ignored(const api::Pod& pod, const std::string& what, std::string_view) {
  log_.push_back(fmt::format("{} ignored: {}", pod.meta.name.view(), what));
}

void Lab::patch(const ObjectPatch& patch, Done done) {
  log_.push_back(
      fmt::format("{} {}/{} {}", patch.kind->kind, patch.ns, patch.name, json::write(patch.body)));
  writes_.push_back({patch, std::move(done)});
}

void Lab::clearNomination(const api::Pod& pod) {
  log_.push_back(fmt::format("{} loses its nomination", pod.meta.name.view()));
}

}  // namespace mangrove::placement
