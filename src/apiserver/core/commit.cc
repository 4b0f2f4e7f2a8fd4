#include "apiserver/core/commit.h"

#include "apiserver/core/event_life.h"
#include "apiserver/core/object.h"
#include "apiserver/kinds/conversion.h"

namespace mangrove::apiserver {

namespace {

store::Key keyOf(const Resource& resource, const json::Object& object) {
  return {resource.stored, resource.kind->namespaced ? std::string(namespaceOf(object)) : "",
          std::string(nameOf(object))};
}

std::optional<WallTime> expiryOf(const Context& context, const Resource& resource) {
  if (resource.kind->kind != "Event") return std::nullopt;
  const Duration life = eventLife(context.store.count(resource.stored));
  return context.clock.wall() + std::chrono::duration_cast<WallTime::duration>(life);
}

store::Body bytesOf(Context& context, const Resource& resource, json::Value& object,
                    const store::Txn& txn) {
  json::Object& root = object.get_object();
  metadataOf(root)["resourceVersion"] = std::to_string(context.store.nextRevision(txn).v);
  toStored(*resource.kind, root);
  return std::make_shared<const std::string>(json::write(object));
}

struct Change {
  ResourcePtr resource;
  store::Key key;
  store::ObjectPtr before;
  store::ObjectPtr last;           // of a removal: what watchers are shown
  store::ObjectPtr now = nullptr;  // of anything else: what has been written
  Stored done;
};

void tell(Context& context, Change& change, const Result<store::Revision>& revision) {
  if (!revision) return change.done(pass(revision.error()));
  for (Observer* observer : context.observers)
    observer->changed(*change.resource, change.now, change.last ? change.last : change.before);
  change.done(change.last ? change.last : change.now);
}

// What was written is taken from the head at once: when it has reached the disk, a later write in
// the same batch may have removed the object already.
void commitOne(Context& context, store::Txn txn, Change given) {
  auto change = std::make_shared<Change>(std::move(given));
  auto taken = context.store.commit(
      std::move(txn),
      [&context, change](Result<store::Revision> revision) { tell(context, *change, revision); });
  if (!taken) return change->done(pass(taken.error()));
  const store::Key& key = change->key;
  if (!change->last) change->now = context.store.getHead(key.resource, key.ns, key.name);
}

}  // namespace

void putObject(Context& context, ResourcePtr resource, json::Value object,
               const store::ObjectPtr& seen, Stored done) {
  store::Txn txn;
  store::Key key = keyOf(*resource, object.get_object());
  store::Body body = bytesOf(context, *resource, object, txn);
  if (seen) {
    txn.update(key, body, seen->revision(), expiryOf(context, *resource));
  } else {
    txn.create(key, body, expiryOf(context, *resource));
  }
  commitOne(context, std::move(txn),
            {std::move(resource), std::move(key), seen, nullptr, nullptr, std::move(done)});
}

void removeObject(Context& context, ResourcePtr resource, json::Value last,
                  const store::ObjectPtr& seen, Stored done) {
  store::Txn txn;
  store::Key key = keyOf(*resource, last.get_object());
  store::Body body = bytesOf(context, *resource, last, txn);
  txn.remove(key, seen->revision(), body);
  json::Doc doc;
  auto shown =
      store::Object::make({key, context.store.nextRevision(), seen->createRevision(), std::nullopt},
                          body, {.name = resource->stored}, doc);
  if (!shown) return done(pass(shown.error()));
  commitOne(context, std::move(txn),
            {std::move(resource), std::move(key), seen, *shown, nullptr, std::move(done)});
}

}  // namespace mangrove::apiserver
