// Opening: from rows back to the state, the history and the position in it.

#include <unordered_map>
#include <utility>

#include "store/store_impl.h"

namespace mangrove::store {

Store::Impl::Impl(Options options, Post post)
    : options_(std::move(options)),
      post_(std::move(post)),
      history_(options_.windowEvents, static_cast<size_t>(options_.windowBytes.v)),
      feed_(std::make_shared<Feed>(history_)) {}

Store::Impl::~Impl() {
  feed_->close();
}

Result<> Store::Impl::open() {
  for (ResourceSpec& spec : std::exchange(options_.resources, {})) declare(std::move(spec));
  feed_->advance(visible_);
  if (options_.dir.empty()) return {};
  auto dir = DataDir::lock(options_.dir);
  if (!dir) return pass(dir.error());
  auto database = Database::open(std::move(*dir), options_.vfs, options_.seal);
  if (!database) return pass(database.error());
  auto start = database->windowStart();
  if (!start) return pass(start.error());
  history_.startAt(*start);
  visible_ = *start;
  auto loaded = database->load([&](const StoredRow& row) { return loadRow(row, *start); });
  if (!loaded) return loaded;
  head_ = visible_;
  headBytes_ = static_cast<int64_t>(state_.bytes());
  feed_->advance(visible_);
  doc_.shrink();
  if (packSome(0)) packSoon();
  writer_ = std::make_unique<Writer>(std::move(*database),
                                     Writer::Limits{options_.walLimit, options_.idleBeforeFold},
                                     [this] { tell(); });
  return {};
}

// Rows up to the start of the window are the state it starts from, the others are changes to it.
Result<> Store::Impl::loadRow(const StoredRow& row, Revision windowStart) {
  const Key key{Interned(row.resource), std::string(row.ns), std::string(row.name)};
  auto object = Object::make({key, row.revision, row.created, row.expireAt},
                             std::make_shared<const std::string>(row.json),
                             state_.of(key.resource).spec(), doc_);
  if (!object) return object.error().in("revision {}", row.revision.v);
  visible_ = std::max(visible_, row.revision);
  remember(*object);
  ObjectPtr before =
      row.deleted ? state_.erase(key.resource, (*object)->path()) : state_.put(*object);
  if (row.revision <= windowStart) return {};
  if (!before && (row.deleted || row.created != row.revision))
    return invalid("{} of revision {} has no version before it", keyText(key), row.revision.v);
  const EventType type = row.deleted ? EventType::kDeleted
                         : before    ? EventType::kModified
                                     : EventType::kAdded;
  history_.push({type, std::move(*object), std::move(before)});
  return {};
}

void Store::Impl::declare(ResourceSpec spec) {
  // The same version may be held by the state, the history and the queue; it stays one object.
  std::unordered_map<const Object*, ObjectPtr> made;
  const auto make = [&](const ObjectPtr& old) {
    ObjectPtr& slot = made[old.get()];
    if (!slot) {
      auto object =
          Object::make({old->key(), old->revision(), old->createRevision(), old->expireAt()},
                       old->json(), spec, doc_);
      slot = object ? *object : old;
      slot->pack(state_.of(spec.name).packer());
    }
    return slot;
  };
  const Interned name = spec.name;
  state_.declare(spec, make);
  history_.redeclare(name, make);
  for (Pending& pending : pending_)
    for (Change& change : pending.changes)
      if (change.object->resource() == name) change.object = make(change.object);
}

}  // namespace mangrove::store
