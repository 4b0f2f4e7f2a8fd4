#include "client/informer/informer_engine.h"

#include <atomic>

#include "base/check.h"
#include "base/os/log.h"
#include "client/informer/informer_feeder.h"
#include "client/informer/resource_version.h"

namespace mangrove::client {

namespace {

const Logger log("client");
constexpr size_t kMaxTombstones = 16384;  // about 2 MB at most
constexpr size_t kMaxComplaints = 10000;

}  // namespace

// ---- setting up ----

std::shared_ptr<InformerEngine> InformerEngine::make(InformerSetup setup, AnyDecoder decoder) {
  CHECK(setup.client != nullptr && setup.owner != nullptr, "an informer needs client and owner");
  if (setup.home == nullptr) setup.home = setup.owner;
  if (setup.clock == nullptr) setup.clock = &realClock();
  std::shared_ptr<InformerEngine> engine(new InformerEngine(std::move(setup)));
  engine->follow(std::move(decoder));
  return engine;
}

InformerEngine::InformerEngine(InformerSetup setup) : setup_(std::move(setup)) {
  if (setup_.metrics != nullptr) useMetrics(*setup_.metrics);
}

InformerEngine::~InformerEngine() = default;

void InformerEngine::useMetrics(Registry& registry) {
  LabelValues resource{std::string(setup_.follow.kind.plural)};
  auto counter = [&](const char* name, const char* help) {
    return registry.counters(name, help, {"resource"}).with(resource);
  };
  undecodableMetric_ =
      counter("mangrove_informer_undecodable_total", "Objects received that did not decode.");
  appliedMetric_ = counter("mangrove_informer_changes_total", "Changes told to handlers.");
  staleMetric_ = counter("mangrove_informer_stale_events_total",
                         "Events that came twice, late or out of order.");
  objectsMetric_ =
      registry.gauges("mangrove_informer_objects", "Objects in the cache.", {"resource"})
          .with(resource);
}

// The home half holds the engine weakly and only the owner's thread locks it, so the cache and the
// handlers are never destroyed elsewhere.
void InformerEngine::follow(AnyDecoder decoder) {
  auto flow = flow_ = std::make_shared<FeedFlow>(setup_.maxUnapplied);
  auto deliver = [weak = weak_from_this(), flow, owner = setup_.owner](FedBatch batch) {
    std::lock_guard lock(flow->gate);
    if (flow->closed) return;
    owner->post([weak, flow, batch = std::move(batch)]() mutable {
      auto self = weak.lock();
      if (!self) return;
      self->apply(std::move(batch));
      if (--flow->unapplied == flow->limit / 2) self->follow_->setPaused(false);
    });
  };
  follow_ = std::make_unique<ListWatch>(
      setup_.follow, *setup_.client, *setup_.home, *setup_.clock, setup_.seed,
      std::make_shared<InformerFeeder>(std::move(decoder), setup_.raw, flow, std::move(deliver)));
}

void InformerEngine::start() {
  follow_->start();
}

void InformerEngine::stop() {
  follow_->stop();
  std::lock_guard lock(flow_->gate);
  flow_->closed = true;
}

// ---- applying ----

void InformerEngine::apply(FedBatch batch) {
  unpacker_.use(std::move(batch.dictionary));
  if (batch.replaces) {
    replaceAll(batch);
  } else {
    for (FedObject& fed : batch.objects) applyEvent(fed);
  }
  objectsMetric_.set(static_cast<double>(objects_.size()));
}

// The new content is in place before the first handler hears of it.
void InformerEngine::replaceAll(FedBatch& batch) {
  std::vector<Told> changes;
  Map fresh = mapOf(batch, changes);
  for (auto& [key, entry] : objects_)
    if (!fresh.contains(key) && entry.object) changes.push_back({key, entry.object, nullptr});
  for (auto& [name, index] : indexes_) index.postings.clear();
  objects_.swap(fresh);
  fresh.clear();
  rawBytes_ = unreadable_ = 0;
  for (const Node& node : objects_) {
    index(node, true);
    rawBytes_ += node.second.raw.bytes().size();
    unreadable_ += node.second.object == nullptr;
  }
  listVersion_ = batch.listVersion;
  tombstones_.clear();
  tombstoneOrder_.clear();
  forgotten_ = 0;
  relistAsked_ = false;
  std::vector<FedObject>().swap(batch.objects);
  size_t listeners = handlers_.size();
  for (const Told& change : changes) tell(listeners, change.key, change.before, change.after);
  if (!synced_) becomeSynced();
}

// Objects that have not changed keep their identity, so that handlers hear of real changes only.
InformerEngine::Map InformerEngine::mapOf(FedBatch& batch, std::vector<Told>& changes) {
  Map fresh;
  for (FedObject& fed : batch.objects) {
    if (!fed.trouble.empty()) noteUnreadable(fed);
    auto have = objects_.find(fed.key);
    AnyObject before = have == objects_.end() ? nullptr : have->second.object;
    bool same =
        have != objects_.end() && have->second.version == fed.version && !fed.version.empty();
    Entry entry{std::move(fed.version), same ? before : std::move(fed.object), std::move(fed.raw)};
    if (!same && (before || entry.object)) changes.push_back({fed.key, before, entry.object});
    fresh.insert_or_assign(std::move(fed.key), std::move(entry));
  }
  return fresh;
}

void InformerEngine::applyEvent(FedObject& fed) {
  auto have = objects_.find(fed.key);
  switch (judge(fed, have == objects_.end() ? nullptr : &have->second)) {
    case Verdict::kApply:
      break;
    case Verdict::kIgnore:
      return ignore(fed);
    case Verdict::kUnknown:
      return askForList(fed);
  }
  if (!fed.trouble.empty()) noteUnreadable(fed);
  AnyObject before = have == objects_.end() ? nullptr : have->second.object;
  AnyObject after = fed.object;
  if (fed.type == EventType::kDeleted) {
    bury(fed.key, fed.version);
    drop(fed.key);
  } else if (have == objects_.end()) {
    put(fed);
  } else {  // in place: among tens of thousands of keys searching is what an event costs most
    rawBytes_ += fed.raw.bytes().size() - have->second.raw.bytes().size();
    unreadable_ += size_t{after == nullptr} - size_t{before == nullptr};
    have->second = {std::move(fed.version), std::move(fed.object), std::move(fed.raw)};
    reindex(*have, before);
  }
  if (before || after) tell(handlers_.size(), fed.key, before, after);
}

void InformerEngine::ignore(const FedObject& fed) {
  // The end of an object may overtake its beginning.
  if (fed.type == EventType::kDeleted && !objects_.contains(fed.key)) bury(fed.key, fed.version);
  ++counts_.stale;
  staleMetric_.inc();
}

void InformerEngine::askForList(const FedObject& fed) {
  if (std::exchange(relistAsked_, true)) return;
  follow_->relist(fmt::format(
      "an event for {} of version {} is too old to tell whether the object still exists", fed.key,
      fed.version));
}

// Events may be repeated or late. What is in the cache is never replaced by something older.
InformerEngine::Verdict InformerEngine::judge(const FedObject& fed, const Entry* have) const {
  if (have == nullptr) return judgeAbsent(fed);
  bool deletes = fed.type == EventType::kDeleted;
  if (fed.version == have->version && !fed.version.empty())
    return deletes ? Verdict::kApply : Verdict::kIgnore;
  return surelyOlder(fed.version, have->version) ? Verdict::kIgnore : Verdict::kApply;
}

InformerEngine::Verdict InformerEngine::judgeAbsent(const FedObject& fed) const {
  if (fed.type == EventType::kDeleted) return Verdict::kIgnore;
  auto version = versionNumber(fed.version);
  if (!version) return Verdict::kApply;  // opaque: order of arrival is all there is
  if (auto listed = versionNumber(listVersion_); listed && *version <= *listed)
    return Verdict::kIgnore;
  auto grave = tombstones_.find(fed.key);
  if (grave != tombstones_.end())
    return surelyOlder(grave->second, fed.version) ? Verdict::kApply : Verdict::kIgnore;
  return *version <= forgotten_ ? Verdict::kUnknown : Verdict::kApply;
}

void InformerEngine::bury(const std::string& key, const std::string& version) {
  auto number = versionNumber(version);
  if (!number) return;
  std::string& grave = tombstones_[key];
  if (!surelyOlder(version, grave)) grave = version;
  tombstoneOrder_[*number] = key;
  while (tombstoneOrder_.size() > kMaxTombstones) {
    auto oldest = tombstoneOrder_.begin();
    forgotten_ = std::max(forgotten_, oldest->first);
    auto known = tombstones_.find(oldest->second);
    if (known != tombstones_.end() && versionNumber(known->second) == oldest->first)
      tombstones_.erase(known);
    tombstoneOrder_.erase(oldest);
  }
}

// A key that is new.
void InformerEngine::put(FedObject& fed) {
  auto at = objects_.try_emplace(fed.key).first;
  at->second = {std::move(fed.version), std::move(fed.object), std::move(fed.raw)};
  rawBytes_ += at->second.raw.bytes().size();
  unreadable_ += at->second.object == nullptr;
  reindex(*at, nullptr);
}

void InformerEngine::drop(std::string_view key) {
  auto at = objects_.find(key);
  if (at == objects_.end()) return;
  index(*at, false);
  rawBytes_ -= at->second.raw.bytes().size();
  unreadable_ -= at->second.object == nullptr;
  objects_.erase(at);
}

void InformerEngine::noteUnreadable(const FedObject& fed) {
  ++counts_.undecodable;
  undecodableMetric_.inc();
  if (complained_.size() >= kMaxComplaints) complained_.clear();
  if (complained_.insert(fed.key).second)
    log.warn("{} {}: {}; kept as text only", setup_.follow.kind.kind, fed.key, fed.trouble);
}

// ---- telling ----

void InformerEngine::tell(size_t listeners, std::string_view key, const AnyObject& before,
                          const AnyObject& after) {
  ++counts_.applied;
  appliedMetric_.inc();
  for (size_t i = 0; i < listeners; ++i) {
    auto handler = handlers_[i];  // the list may grow under our feet
    (*handler)({key, before, after});
  }
}

void InformerEngine::onChange(AnyHandler handler) {
  auto shared = std::make_shared<AnyHandler>(std::move(handler));
  std::vector<std::pair<std::string, AnyObject>> content;
  for (const auto& [key, entry] : objects_)
    if (entry.object) content.emplace_back(key, entry.object);
  handlers_.push_back(shared);
  for (const auto& [key, object] : content) (*shared)({key, nullptr, object});
}

void InformerEngine::onSynced(Fn fn) {
  if (synced_) return fn();
  whenSynced_.push_back(std::move(fn));
}

void InformerEngine::becomeSynced() {
  synced_ = true;
  for (Fn& fn : std::exchange(whenSynced_, {})) fn();
}

// ---- reading ----

const InformerEngine::Entry* InformerEngine::find(std::string_view key) const {
  auto at = objects_.find(key);
  return at == objects_.end() ? nullptr : &at->second;
}

Result<std::string> InformerEngine::raw(std::string_view key) const {
  const Entry* entry = find(key);
  if (entry == nullptr)
    return fail(Code::kNotFound, "no {} '{}' in the cache", setup_.follow.kind.kind, key);
  return unpacker_.unpack(entry->raw);
}

void InformerEngine::addIndex(std::string name, AnyIndexer indexer) {
  auto [at, fresh] = indexes_.try_emplace(std::move(name));
  CHECK(fresh, "index '{}' is there already", at->first);
  at->second.indexer = std::move(indexer);
  for (const Node& node : objects_)
    if (node.second.object)
      for (std::string& value : at->second.indexer(node.second.object.get()))
        at->second.add(std::move(value), node);
}

void InformerEngine::Index::add(std::string value, const Node& node) {
  postings[std::move(value)].insert(&node);
}

void InformerEngine::Index::remove(const std::string& value, const Node& node) {
  auto posting = postings.find(value);
  if (posting == postings.end()) return;
  posting->second.erase(&node);
  if (posting->second.empty()) postings.erase(posting);
}

void InformerEngine::index(const Node& node, bool add) {
  if (!node.second.object) return;
  for (auto& [name, one] : indexes_) {
    for (std::string& value : one.indexer(node.second.object.get())) {
      if (add) {
        one.add(std::move(value), node);
      } else {
        one.remove(value, node);
      }
    }
  }
}

// Most changes leave the indexed values alone.
void InformerEngine::reindex(const Node& node, const AnyObject& before) {
  for (auto& [name, one] : indexes_) {
    std::vector<std::string> old, now;
    if (before) old = one.indexer(before.get());
    if (node.second.object) now = one.indexer(node.second.object.get());
    if (old == now) continue;
    for (const std::string& value : old) one.remove(value, node);
    for (std::string& value : now) one.add(std::move(value), node);
  }
}

const InformerEngine::Posting& InformerEngine::by(std::string_view name,
                                                  std::string_view value) const {
  static const Posting kNone;
  auto at = indexes_.find(name);
  CHECK(at != indexes_.end(), "no index '{}' over {}", name, setup_.follow.kind.plural);
  auto posting = at->second.postings.find(value);
  return posting == at->second.postings.end() ? kNone : posting->second;
}

std::vector<std::string> InformerEngine::indexValues(std::string_view name) const {
  auto at = indexes_.find(name);
  CHECK(at != indexes_.end(), "no index '{}' over {}", name, setup_.follow.kind.plural);
  std::vector<std::string> values;
  for (const auto& [value, posting] : at->second.postings) values.push_back(value);
  return values;
}

InformerStats InformerEngine::stats() const {
  InformerStats out = counts_;
  out.objects = objects_.size();
  out.unreadable = unreadable_;
  out.rawBytes = rawBytes_;
  out.follow = follow_->stats();
  return out;
}

}  // namespace mangrove::client
