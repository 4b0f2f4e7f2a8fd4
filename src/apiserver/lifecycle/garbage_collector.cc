#include "apiserver/lifecycle/garbage_collector.h"

#include <algorithm>
#include <memory>

#include "apiserver/core/object.h"
#include "apiserver/core/write.h"
#include "apiserver/lifecycle/stored.h"

namespace mangrove::apiserver {

namespace {

bool sameOwners(const store::Object& a, const store::Object& b) {
  const auto left = a.owners(), right = b.owners();
  return std::equal(left.begin(), left.end(), right.begin(), right.end());
}

bool isWaiting(const json::Object& owner) {
  return isBeingDeleted(owner) && hasFinalizer(owner, kForegroundFinalizer);
}

bool blocks(const json::Object& reference) {
  const json::Value* flag = reference.if_contains("blockOwnerDeletion");
  return flag && flag->is_bool() && flag->get_bool();
}

void eraseReferences(json::Object& object, const std::vector<std::string>& uids) {
  json::Object& metadata = metadataOf(object);
  const json::Array* references = findArray(metadata, "ownerReferences");
  if (!references) return;
  json::Array rest;
  for (const json::Value& one : *references) {
    const std::string uid(one.is_object() ? textAt(one.get_object(), "uid") : "");
    if (std::find(uids.begin(), uids.end(), uid) == uids.end()) rest.push_back(one);
  }
  if (rest.empty()) {
    metadata.erase("ownerReferences");
  } else {
    metadata["ownerReferences"] = std::move(rest);
  }
}

}  // namespace

GarbageCollector::GarbageCollector(Context& context)
    : context_(context), queue_(context, [this](const store::Key& key) { examine(key); }) {}

void GarbageCollector::changed(const Resource&, const store::ObjectPtr& now,
                               const store::ObjectPtr& before) {
  if (!now) {
    const auto dependents = context_.store.ownedBy(before->uid());
    if (!dependents.empty()) gone_[std::string(before->uid())] = dependents.size();
    for (const auto& dependent : dependents) queue_.add(dependent->key());
    forgetGone(*before);
    return examineOwnersOf(*before);
  }
  const bool moved = before ? !sameOwners(*now, *before) : !now->owners().empty();
  if (moved || mayBeDeleted(*now)) queue_.add(now->key());
  // An owner in the foreground waits for references to go, not only for objects.
  if (before && moved) examineOwnersOf(*before);
  if (before && moved) forgetGone(*before);
}

void GarbageCollector::forgetGone(const store::Object& dependent) {
  for (std::string_view uid : dependent.owners()) {
    auto found = gone_.find(uid);
    if (found != gone_.end() && --found->second == 0) gone_.erase(found);
  }
}

void GarbageCollector::recover() {
  for (Interned resource : context_.store.resources()) {
    auto page = context_.store.list({.resource = resource});
    if (!page) continue;
    for (const auto& object : page->items) {
      if (!object->owners().empty() || mayBeDeleted(*object)) queue_.add(object->key());
    }
  }
}

void GarbageCollector::examineOwnersOf(const store::Object& object) {
  if (object.owners().empty()) return;
  auto root = parsed(object);
  const json::Array* references = root ? findArray(metadataOf(*root), "ownerReferences") : nullptr;
  if (!references) return;
  for (const json::Value& one : *references) {
    bool judged = false;
    auto owner = one.is_object() ? ownerAt(object, one.get_object(), judged) : nullptr;
    if (owner && mayBeDeleted(*owner)) queue_.add(owner->key());
  }
}

void GarbageCollector::examine(const store::Key& key) {
  auto object = context_.store.get(key.resource, key.ns, key.name);
  auto root = object ? parsed(*object) : std::nullopt;
  if (!root) return queue_.forget(key);
  if (!isBeingDeleted(*root)) return examineDependent(object, *root);
  if (hasFinalizer(*root, kOrphanFinalizer)) return finishOrphaning(object);
  if (hasFinalizer(*root, kForegroundFinalizer)) return finishForeground(object);
  queue_.forget(key);
}

store::ObjectPtr GarbageCollector::ownerAt(const store::Object& object,
                                           const json::Object& reference, bool& judged) const {
  const std::string_view apiVersion = textAt(reference, "apiVersion");
  const size_t slash = apiVersion.find('/');
  const bool core = slash == std::string_view::npos;
  auto resource = context_.resources.findKind(
      core ? std::string_view() : apiVersion.substr(0, slash),
      core ? apiVersion : apiVersion.substr(slash + 1), textAt(reference, "kind"));
  // A kind nobody serves, or an owner that a cluster-wide object cannot name: not ours to judge.
  judged = resource && (!resource->kind->namespaced || !object.ns().empty());
  if (!judged) return nullptr;
  const std::string_view ns = resource->kind->namespaced ? object.ns() : std::string_view();
  auto owner = context_.store.get(resource->stored, ns, textAt(reference, "name"));
  return owner && owner->uid() == textAt(reference, "uid") ? owner : nullptr;
}

// Anybody who may write somewhere can name a uid. What counts is a reference that leads to the owner:
// same kind, name and namespace; the others neither hold it back nor are changed for it.
std::vector<store::ObjectPtr> GarbageCollector::dependentsOf(const store::Object& owner,
                                                             Which which) const {
  auto found = context_.store.ownedBy(owner.uid());
  std::erase_if(found, [&](const store::ObjectPtr& dependent) {
    auto root = parsed(*dependent);
    const json::Array* references =
        root ? findArray(metadataOf(*root), "ownerReferences") : nullptr;
    if (!references) return true;
    return std::none_of(references->begin(), references->end(), [&](const json::Value& r) {
      if (!r.is_object() || (which == Which::kBlocking && !blocks(r.get_object()))) return false;
      bool judged = false;
      auto led = ownerAt(*dependent, r.get_object(), judged);
      return led && led->uid() == owner.uid();
    });
  });
  return found;
}

GarbageCollector::Owners GarbageCollector::ownersOf(const store::Object& object,
                                                    const json::Object& root) const {
  Owners owners;
  const json::Array* references = findArray(metadataOf(root), "ownerReferences");
  if (!references) return owners;
  for (const json::Value& one : *references) {
    if (!one.is_object()) continue;
    bool judged = false;
    auto owner = ownerAt(object, one.get_object(), judged);
    const std::string uid(textAt(one.get_object(), "uid"));
    if (!owner && (judged || gone_.contains(uid))) {
      owners.dangling.push_back(uid);
      continue;
    }
    auto ownerRoot = owner ? parsed(*owner) : std::nullopt;
    const bool waits = ownerRoot && isWaiting(*ownerRoot);
    waits ? ++owners.waiting : ++owners.living;
    if (waits) owners.leaving.push_back(uid);
  }
  return owners;
}

void GarbageCollector::examineDependent(const store::ObjectPtr& object, const json::Object& root) {
  Owners owners = ownersOf(*object, root);
  if (owners.dangling.empty() && owners.leaving.empty()) return queue_.forget(object->key());
  if (owners.living > 0) {
    for (auto& uid : owners.leaving) owners.dangling.push_back(std::move(uid));
    return dropReferences(object, std::move(owners.dangling));
  }
  const bool hasOwn = !dependentsOf(*object, Which::kAll).empty();
  if (owners.waiting == 0 || !hasOwn) return remove(object, Propagation::kBackground);
  if (!unblock(object)) remove(object, Propagation::kForeground);
}

// Two objects that own each other would wait for each other for ever: the one that is asked to go
// because of the other stops blocking it.
bool GarbageCollector::unblock(const store::ObjectPtr& object) {
  const auto dependents = dependentsOf(*object, Which::kAll);
  const bool circle = std::any_of(dependents.begin(), dependents.end(), [](const auto& dependent) {
    auto root = parsed(*dependent);
    return root && isWaiting(*root);
  });
  auto root = parsed(*object);
  json::Value* references = root ? metadataOf(*root).if_contains("ownerReferences") : nullptr;
  if (!circle || !references || !references->is_array()) return false;
  const auto& list = references->get_array();
  const bool any = std::any_of(list.begin(), list.end(), [](const json::Value& r) {
    return r.is_object() && blocks(r.get_object());
  });
  if (!any) return false;
  auto change = [](json::Object& now) -> Outcome<> {
    for (json::Value& r : metadataOf(now)["ownerReferences"].as_array())
      r.as_object()["blockOwnerDeletion"] = false;
    return {};
  };
  // The references' uids stay the same, so nobody else would look at the two again.
  auto done = [this, key = object->key(), object](const Outcome<store::ObjectPtr>& result) {
    settled(key, result ? Outcome<>() : refuse(result.error()));
    queue_.add(key);
    examineOwnersOf(*object);
  };
  auto resource = context_.resources.findStored(object->resource());
  if (!resource) return false;
  changeObject(context_, resource, std::string(object->ns()), std::string(object->name()),
               std::move(change), std::move(done));
  return true;
}

void GarbageCollector::finishForeground(const store::ObjectPtr& owner) {
  const auto blocking = dependentsOf(*owner, Which::kBlocking);
  for (const auto& dependent : blocking) queue_.add(dependent->key());
  if (blocking.empty()) dropFinalizer(owner->key(), kForegroundFinalizer);
}

void GarbageCollector::finishOrphaning(const store::ObjectPtr& owner) {
  const auto dependents = dependentsOf(*owner, Which::kAll);
  if (dependents.empty()) return dropFinalizer(owner->key(), kOrphanFinalizer);
  // changed() hears of each lost reference, looks at the owner again and so ends up above.
  for (const auto& dependent : dependents) dropReferences(dependent, {std::string(owner->uid())});
}

void GarbageCollector::remove(const store::ObjectPtr& object, Propagation propagation) {
  auto resource = context_.resources.findStored(object->resource());
  if (!resource) return;
  DeleteOptions options;
  options.propagation = propagation;
  options.uid = object->uid();
  options.resourceVersion = std::to_string(object->revision().v);
  deleteAs(context_, Identity::system(), resource, std::string(object->ns()),
           std::string(object->name()), std::move(options),
           [this, key = object->key()](const Outcome<>& result) { settled(key, result); });
}

void GarbageCollector::dropReferences(const store::ObjectPtr& object,
                                      std::vector<std::string> uids) {
  auto resource = context_.resources.findStored(object->resource());
  if (!resource) return;
  auto change = [uids = std::move(uids),
                 uid = std::string(object->uid())](json::Object& now) -> Outcome<> {
    if (uidOf(now) == uid) eraseReferences(now, uids);
    return {};
  };
  auto done = [this, key = object->key()](const Outcome<store::ObjectPtr>& result) {
    settled(key, result ? Outcome<>() : refuse(result.error()));
  };
  changeObject(context_, resource, std::string(object->ns()), std::string(object->name()),
               std::move(change), std::move(done));
}

void GarbageCollector::dropFinalizer(const store::Key& key, std::string_view finalizer) {
  auto resource = context_.resources.findStored(key.resource);
  if (!resource) return;
  auto change = [finalizer](json::Object& now) -> Outcome<> {
    removeFinalizer(now, finalizer);
    return {};
  };
  auto done = [this, key](const Outcome<store::ObjectPtr>& result) {
    settled(key, result ? Outcome<>() : refuse(result.error()));
  };
  changeObject(context_, resource, key.ns, key.name, std::move(change), std::move(done));
}

// Gone is what we wanted; everything else (a write that was faster, admission, the disk) deserves
// another look.
void GarbageCollector::settled(const store::Key& key, const Outcome<>& result) {
  const bool fine = result || result.error().status == 404;
  if (fine) return queue_.forget(key);
  queue_.retry(key);
}

}  // namespace mangrove::apiserver
