#include "apiserver/lifecycle/namespaces.h"

#include <fmt/core.h>

#include "apiserver/core/body.h"
#include "apiserver/core/commit.h"
#include "apiserver/core/object.h"
#include "apiserver/core/remove.h"
#include "apiserver/core/strategy.h"
#include "apiserver/core/write.h"
#include "apiserver/kinds/object_rules.h"
#include "apiserver/lifecycle/stored.h"
#include "apiserver/schema/defaulting.h"
#include "base/check.h"

namespace mangrove::apiserver {

namespace {

constexpr std::string_view kOwnFinalizer = "kubernetes";

Interned stored() {
  static const Interned kName = Resources::storedName("", "namespaces");
  return kName;
}

Interned pods() {
  static const Interned kName = Resources::storedName("", "pods");
  return kName;
}

ResourcePtr namespacesOf(const Context& context) {
  auto resource = context.resources.find("", "v1", "namespaces");
  CHECK(resource, "the tables lack namespaces");
  return resource;
}

bool isNamespace(const Resource& resource) {
  return resource.stored == stored();
}

void eraseOwnFinalizer(json::Object& home) {
  json::Object& spec = objectAt(home, "spec");
  json::Array rest;
  if (const json::Array* finalizers = findArray(spec, "finalizers")) {
    for (const json::Value& one : *finalizers)
      if (one != json::Value(kOwnFinalizer)) rest.push_back(one);
  }
  if (rest.empty()) {
    spec.erase("finalizers");
  } else {
    spec["finalizers"] = std::move(rest);
  }
}

// What is still there, in the words kubectl's users know.
struct Remains {
  std::string resources;   // "pods. has 2 resource instances, …"
  std::string finalizers;  // "x.io/y in 1 resource instances, …"
};

void append(std::string& list, const std::string& item) {
  if (!list.empty()) list += ", ";
  list += item;
}

std::map<std::string, size_t> countFinalizers(const std::vector<store::ObjectPtr>& objects) {
  std::map<std::string, size_t> counts;
  for (const auto& object : objects) {
    auto root = object->json()->find("\"finalizers\"") == std::string::npos ? std::nullopt
                                                                            : parsed(*object);
    const json::Array* list = root ? findArray(metadataOf(*root), "finalizers") : nullptr;
    if (!list) continue;
    for (const json::Value& one : *list)
      if (one.is_string()) ++counts[std::string(std::string_view(one.get_string()))];
  }
  return counts;
}

Remains remainsOf(const Context& context, const std::vector<ResourcePtr>& contents,
                  const std::string& ns) {
  Remains remains;
  std::map<std::string, size_t> finalizers;
  for (const auto& resource : contents) {
    auto page = context.store.list({.resource = resource->stored, .ns = ns});
    if (!page || page->items.empty()) continue;
    append(remains.resources, fmt::format("{}.{} has {} resource instances", resource->kind->plural,
                                          resource->kind->group, page->items.size()));
    for (const auto& [name, count] : countFinalizers(page->items)) finalizers[name] += count;
  }
  for (const auto& [name, count] : finalizers)
    append(remains.finalizers, fmt::format("{} in {} resource instances", name, count));
  return remains;
}

void setConditions(json::Object& home, const Remains& remains, bool failed, WallTime now) {
  const auto set = [&](const Condition& condition) { setCondition(home, condition, now); };
  set({"NamespaceDeletionDiscoveryFailure", false, "ResourcesDiscovered",
       "All resources successfully discovered"});
  set({"NamespaceDeletionGroupVersionParsingFailure", false, "ParsedGroupVersions",
       "All legacy kube types successfully parsed"});
  if (failed) {
    set({"NamespaceDeletionContentFailure", true, "ContentDeletionFailed",
         "Failed to delete some resources; trying again"});
  } else {
    set({"NamespaceDeletionContentFailure", false, "ContentDeleted",
         "All content successfully deleted, may be waiting on finalization"});
  }
  const bool some = !remains.resources.empty(), held = !remains.finalizers.empty();
  const std::string left = "Some resources are remaining: " + remains.resources;
  const std::string kept =
      "Some content in the namespace has finalizers remaining: " + remains.finalizers;
  set({"NamespaceContentRemaining", some, some ? "SomeResourcesRemain" : "ContentRemoved",
       some ? left : "All content successfully removed"});
  set({"NamespaceFinalizersRemaining", held,
       held ? "SomeFinalizersRemain" : "ContentHasNoFinalizers",
       held ? kept : "All content-preserving finalizers finished"});
}

// Only spec.finalizers of what is sent counts.
void finalize(Context& context, const Call& call, ResourcePtr resource, ResponderPtr to) {
  if (call.info.verb != Verb::kUpdate)
    return to->answer(answer::methodNotAllowed("namespaces/finalize can only be updated (PUT)"));
  std::vector<std::string> warnings;
  auto sent = readObject(call, *resource, warnings);
  if (!sent) return to->answer(sent.error());
  auto change = [sent = std::move(*sent), kind = resource->kind](json::Object& now) -> Outcome<> {
    const json::Object& wanted = sent.get_object();
    const std::string_view version = resourceVersionOf(wanted), uid = uidOf(wanted);
    const bool stale = (!version.empty() && version != resourceVersionOf(now)) ||
                       (!uid.empty() && uid != uidOf(now));
    if (stale)
      return refuse(answer::conflict(*kind, nameOf(now),
                                     "the object has been modified; please apply your changes to "
                                     "the latest version and try again"));
    static const json::Object kNone;
    const json::Object* spec = findObject(wanted, "spec");
    copyMember(objectAt(now, "spec"), spec ? *spec : kNone, "finalizers");
    return {};
  };
  auto done = [to](Outcome<store::ObjectPtr> object) {
    to->answer(object ? answer::json(200, *(*object)->json()) : object.error());
  };
  changeObject(context, std::move(resource), "", call.info.name, std::move(change),
               std::move(done));
}

}  // namespace

void ensureNamespaces(Context& context, std::span<const std::string_view> names) {
  auto resource = namespacesOf(context);
  for (std::string_view name : names) {
    if (context.store.getHead(stored(), "", name)) continue;
    json::Value home = json::Object{
        {"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", json::Object{{"name", name}}}};
    applyDefaults(*resource->kind, home);
    stampCreate(*resource->kind, home.get_object(), context.clock.wall(), context.rng);
    onCreate(*resource->kind, home);
    finishCreate(*resource->kind, home.get_object());
    putObject(context, resource, std::move(home), nullptr, [](const auto&) {});
  }
}

NamespaceLifecycle::NamespaceLifecycle(Context& context)
    : context_(context), queue_(context, [this](const store::Key& key) { examine(key); }) {}

void NamespaceLifecycle::install(Server& server) {
  server.onSubresource("", "namespaces", "finalize",
                       [this](const Call& call, ResourcePtr resource, ResponderPtr to) {
                         finalize(context_, call, std::move(resource), std::move(to));
                       });
}

void NamespaceLifecycle::changed(const Resource& resource, const store::ObjectPtr& now,
                                 const store::ObjectPtr& before) {
  if (isNamespace(resource)) {
    if (now) return notice(*now);
    endings_.erase(std::string(before->name()));
    return queue_.forget(before->key());
  }
  if (endings_.empty() || !resource.kind->namespaced) return;
  const std::string ns((now ? *now : *before).ns());
  auto ending = endings_.find(ns);
  if (ending == endings_.end() || (now && before)) return;
  if (now) ending->second.sweep = true;  // it was on its way when the namespace was closed
  queue_.add({stored(), "", ns});
}

void NamespaceLifecycle::recover() {
  auto page = context_.store.list({.resource = stored()});
  if (!page) return;
  for (const auto& home : page->items) notice(*home);
}

void NamespaceLifecycle::notice(const store::Object& home) {
  if (!mayBeDeleted(home) || endings_.contains(home.name())) return;
  auto root = parsed(home);
  if (!root || !isBeingDeleted(*root)) return;
  endings_[std::string(home.name())];
  queue_.add(home.key());
}

std::vector<ResourcePtr> NamespaceLifecycle::contents(std::string_view ns) const {
  std::vector<ResourcePtr> out;
  for (Interned name : context_.store.resources()) {
    auto resource = context_.resources.findStored(name);
    if (resource && resource->kind->namespaced && context_.store.count(name, ns) > 0)
      out.push_back(std::move(resource));
  }
  return out;
}

void NamespaceLifecycle::examine(const store::Key& key) {
  auto ending = endings_.find(key.name);
  if (ending == endings_.end() || ending->second.asked > 0) return;
  if (contents(key.name).empty()) return release(key);
  if (ending->second.podsGo && context_.store.count(pods(), key.name) == 0)
    ending->second.sweep = true;
  if (ending->second.sweep) sweep(key, ending->second);
}

void NamespaceLifecycle::sweep(const store::Key& key, Ending& ending) {
  const bool podsGo = context_.store.count(pods(), key.name) > 0;
  // One for this loop: answers may come while it runs.
  ending = {.sweep = false, .podsGo = podsGo, .asked = 1};
  for (const auto& resource : contents(key.name)) {
    if (podsGo && resource->stored != pods()) continue;
    auto page = context_.store.list({.resource = resource->stored, .ns = key.name});
    if (!page) continue;
    for (const auto& object : page->items) {
      if (!mayBeDeleted(*object)) removeOne(key, resource, *object);
    }
  }
  answered(key, {});
}

void NamespaceLifecycle::removeOne(const store::Key& home, ResourcePtr resource,
                                   const store::Object& object) {
  ++endings_[home.name].asked;
  DeleteOptions options;
  options.propagation = Propagation::kBackground;
  options.uid = object.uid();
  deleteAs(context_, Identity::system(), std::move(resource), home.name, std::string(object.name()),
           std::move(options), [this, home](const Outcome<>& result) { answered(home, result); });
}

void NamespaceLifecycle::answered(const store::Key& home, const Outcome<>& result) {
  auto found = endings_.find(home.name);
  if (found == endings_.end()) return;
  Ending& ending = found->second;
  if (!result && result.error().status != 404) ending.failed = true;
  if (--ending.asked > 0) return;
  if (contents(home.name).empty()) return queue_.add(home);
  report(home, ending.failed);
  if (!ending.failed) return queue_.forget(home);
  ending.sweep = true;
  queue_.retry(home);
}

void NamespaceLifecycle::report(const store::Key& home, bool failed) {
  auto change = [remains = remainsOf(context_, contents(home.name), home.name), failed,
                 now = context_.clock.wall()](json::Object& object) -> Outcome<> {
    if (isBeingDeleted(object)) setConditions(object, remains, failed, now);
    return {};
  };
  changeObject(context_, namespacesOf(context_), "", home.name, std::move(change),
               [](const auto&) {});
}

void NamespaceLifecycle::release(const store::Key& home) {
  auto change = [](json::Object& object) -> Outcome<> {
    if (isBeingDeleted(object)) eraseOwnFinalizer(object);
    return {};
  };
  auto done = [this, home](const Outcome<store::ObjectPtr>& object) {
    if (!object && object.error().status != 404) queue_.retry(home);
  };
  changeObject(context_, namespacesOf(context_), "", home.name, std::move(change), std::move(done));
}

}  // namespace mangrove::apiserver
