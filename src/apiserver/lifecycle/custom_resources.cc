#include "apiserver/lifecycle/custom_resources.h"

#include <algorithm>

#include <fmt/core.h>

#include "apiserver/core/commit.h"
#include "apiserver/core/object.h"
#include "apiserver/core/remove.h"
#include "apiserver/core/strategy.h"
#include "apiserver/core/write.h"
#include "apiserver/kinds/built_in_crds.h"
#include "apiserver/lifecycle/stored.h"
#include "apiserver/lifecycle/stored_fields.h"
#include "apiserver/schema/crd_kinds.h"
#include "base/check.h"

namespace mangrove::apiserver {

namespace {

constexpr std::string_view kGroup = "apiextensions.k8s.io";
constexpr std::string_view kPlural = "customresourcedefinitions";

Interned stored() {
  static const Interned kName = Resources::storedName(kGroup, kPlural);
  return kName;
}

ResourcePtr definitionsOf(const Context& context) {
  auto resource = context.resources.find(kGroup, "v1", kPlural);
  CHECK(resource, "the tables lack {}", kPlural);
  return resource;
}

const json::Object& specOf(const json::Object& crd) {
  static const json::Object kNone;
  const json::Object* spec = findObject(crd, "spec");
  return spec ? *spec : kNone;
}

const json::Object& wantedNames(const json::Object& crd) {
  static const json::Object kNone;
  const json::Object* names = findObject(specOf(crd), "names");
  return names ? *names : kNone;
}

int64_t generationOf(const json::Object& crd) {
  const json::Value* number = metadataOf(crd).if_contains("generation");
  return number && number->is_int64() ? number->get_int64() : 0;
}

std::string_view storageVersion(const json::Object& crd) {
  const json::Array* versions = findArray(specOf(crd), "versions");
  if (!versions) return "";
  for (const json::Value& version : *versions) {
    const json::Value* flag =
        version.is_object() ? version.get_object().if_contains("storage") : nullptr;
    if (flag && flag->is_bool() && flag->get_bool()) return textAt(version.get_object(), "name");
  }
  return "";
}

// Selectors find a field by its place, and all versions are one stored object: so all of them get
// the fields of all.
std::vector<std::string_view> allSelectable(const CustomKinds& kinds) {
  std::vector<std::string_view> all;
  for (const auto& kind : kinds.kinds) {
    for (std::string_view field : kind->selectable) {
      if (std::find(all.begin(), all.end(), field) == all.end())
        all.push_back(Interned(field).view());
    }
  }
  return all;
}

std::vector<ResourcePtr> resourcesOf(const CustomKinds& kinds, bool ending) {
  std::vector<ResourcePtr> out;
  const auto fields = allSelectable(kinds);
  for (const auto& kind : kinds.kinds) {
    auto own = std::make_shared<KindInfo>(*kind);
    own->selectable = fields;
    if (ending) std::erase(own->verbs, "create");
    auto resource = std::make_shared<Resource>();
    resource->stored = Resources::storedName(own->group, own->plural);
    resource->storageApiVersion = own->storedApiVersion();
    resource->kind = std::move(own);
    out.push_back(std::move(resource));
  }
  return out;
}

void markBuiltIn(json::Object& crd, const std::string& digest) {
  objectAt(metadataOf(crd), "annotations")[kBuiltInAnnotation] = digest;
}
bool isMarkedBuiltIn(const json::Object& crd) {
  const json::Object* annotations = findObject(metadataOf(crd), "annotations");
  return annotations && annotations->contains(kBuiltInAnnotation);
}
// How a mark looks in the stored bytes.
std::string builtInMark(const std::string& digest) {
  return fmt::format("\"{}\":\"{}\"", kBuiltInAnnotation, digest);
}

void addStoredVersion(json::Object& crd) {
  json::Value& versions = objectAt(crd, "status")["storedVersions"];
  if (!versions.is_array()) versions = json::Array();
  const json::Value version(storageVersion(crd));
  auto& list = versions.get_array();
  if (std::find(list.begin(), list.end(), version) == list.end()) list.push_back(version);
}

void setStatus(json::Object& crd, const NameVerdict& names, bool routed, WallTime now) {
  addFinalizer(crd, kCustomResourceFinalizer);
  objectAt(crd, "status")["acceptedNames"] = names.accepted;
  if (names.good()) {
    setCondition(crd, {"NamesAccepted", true, "NoConflicts", "no conflicts found"}, now);
  } else {
    setCondition(crd, {"NamesAccepted", false, names.reason, names.message}, now);
  }
  if (routed) {
    setCondition(
        crd, {"Established", true, "InitialNamesAccepted", "the initial names have been accepted"},
        now);
  } else {
    setCondition(crd, {"Established", false, "NotAccepted", "not all names are accepted"}, now);
  }
  addStoredVersion(crd);
}

}  // namespace

CustomResources::CustomResources(Context& context)
    : context_(context), queue_(context, [this](const store::Key& key) { examine(key); }) {}

void CustomResources::changed(const Resource& resource, const store::ObjectPtr& now,
                              const store::ObjectPtr& before) {
  if (resource.stored == stored()) return now ? notice(*now) : forget(std::string(before->name()));
  if (!resource.kind->isCustom || (now && before)) return;
  auto found = definitions_.find(resource.stored.view());
  if (found != definitions_.end() && found->second.ending) queue_.add({stored(), "", found->first});
}

void CustomResources::recover() {
  auto page = context_.store.list({.resource = stored()});
  if (!page) return;
  // Who has its names already keeps them.
  for (const bool established : {true, false}) {
    for (const auto& object : page->items) {
      auto crd = parsed(*object);
      if (crd && conditionHolds(*crd, "Established") == established) notice(*object);
    }
  }
}

void CustomResources::installBuiltIn() {
  auto resource = definitionsOf(context_);
  for (const BuiltInCrd& crd : builtInCrds()) {
    const std::string digest = crd.digest();
    if (auto there = context_.store.getHead(stored(), "", crd.name)) {
      renew(*there, crd, digest);
      continue;
    }
    json::Value fresh = crd.read();
    markBuiltIn(fresh.get_object(), digest);
    stampCreate(*resource->kind, fresh.get_object(), context_.clock.wall(), context_.rng);
    // A full disk: the next start looks again.
    putObject(context_, resource, std::move(fresh), nullptr, [](const auto&) {});
  }
}

// Another version of this program brought another definition. Those that somebody else installed,
// or took the mark off, are theirs.
void CustomResources::renew(const store::Object& there, const BuiltInCrd& crd,
                            const std::string& digest) {
  const store::Body text = there.json();
  if (text->find(builtInMark(digest)) != std::string::npos) return;
  if (text->find(kBuiltInAnnotation) == std::string::npos) return;
  auto change = [fresh = crd.read(), digest](json::Object& object) -> Outcome<> {
    if (isBeingDeleted(object) || !isMarkedBuiltIn(object)) return {};
    copyMember(object, fresh.get_object(), "spec");
    markBuiltIn(object, digest);
    return {};
  };
  changeObject(context_, definitionsOf(context_), "", crd.name, std::move(change),
               [](const auto&) {});
}

void CustomResources::notice(const store::Object& object) {
  auto crd = parsed(object);
  if (!crd) return;
  const std::string name(object.name());
  Definition& definition = definitions_[name];
  if (definition.uid != object.uid()) {
    definition = {};
    definition.uid = object.uid();
    definition.group = textAt(specOf(*crd), "group");
    definition.plural = textAt(wantedNames(*crd), "plural");
  }
  judge(name, definition, *crd);
  const bool ending = isBeingDeleted(*crd);
  const bool fresh = definition.generation != generationOf(*crd) || definition.ending != ending;
  definition.ending = ending;
  if (fresh && definition.names.good()) route(definition, *crd);
  queue_.add(object.key());
}

void CustomResources::judge(const std::string& name, Definition& definition,
                            const json::Object& crd) {
  NamesInUse others;
  for (const auto& [other, its] : definitions_) {
    if (other != name && its.group == definition.group) others.add(its.names.accepted);
  }
  for (const auto& resource : context_.resources.all()) {
    const KindInfo& kind = *resource->kind;
    if (kind.isCustom || kind.group != definition.group) continue;
    others.add({{"plural", kind.plural}, {"singular", kind.singular}, {"kind", kind.kind}});
  }
  definition.names = judgeNames(wantedNames(crd), others);
}

void CustomResources::route(Definition& definition, const json::Object& crd) {
  auto kinds = customKinds(crd);
  if (!kinds) return;  // stored by an older program with other rules: its author must mend it
  auto resources = resourcesOf(*kinds, definition.ending);
  if (!resources.empty()) {
    context_.store.declare(storedFields(resources.front()->kind, resources.front()->stored));
  }
  context_.resources.putCustom(definition.group, definition.plural, std::move(resources));
  definition.generation = generationOf(crd);
}

void CustomResources::forget(const std::string& name) {
  auto found = definitions_.find(name);
  if (found == definitions_.end()) return;
  const std::string group = found->second.group;
  context_.resources.removeCustom(group, found->second.plural);
  definitions_.erase(found);
  queue_.forget({stored(), "", name});
  // Its names are free now.
  for (const auto& [other, its] : definitions_) {
    if (its.group == group && !its.names.good()) queue_.add({stored(), "", other});
  }
}

void CustomResources::examine(const store::Key& key) {
  auto object = context_.store.get(key.resource, key.ns, key.name);
  auto crd = object ? parsed(*object) : std::nullopt;
  auto found = definitions_.find(key.name);
  if (!crd || found == definitions_.end()) return queue_.forget(key);
  Definition& definition = found->second;
  if (definition.ending) return removeObjects(key, definition);
  const bool refusedBefore = !definition.names.good();
  if (refusedBefore) judge(key.name, definition, *crd);
  if (refusedBefore && definition.names.good()) route(definition, *crd);
  writeStatus(key, definition);
}

void CustomResources::writeStatus(const store::Key& key, const Definition& definition) {
  auto change = [names = definition.names, routed = definition.generation >= 0,
                 now = context_.clock.wall()](json::Object& crd) -> Outcome<> {
    if (!isBeingDeleted(crd)) setStatus(crd, names, routed, now);
    return {};
  };
  auto done = [this, key](const Outcome<store::ObjectPtr>& result) {
    result || result.error().status == 404 ? queue_.forget(key) : queue_.retry(key);
  };
  changeObject(context_, definitionsOf(context_), "", key.name, std::move(change), std::move(done));
}

void CustomResources::removeObjects(const store::Key& key, Definition& definition) {
  if (definition.asked > 0) return;
  const Interned name = Resources::storedName(definition.group, definition.plural);
  auto page = context_.store.list({.resource = name});
  if (page && page->items.empty()) return release(key);
  auto resource = context_.resources.findStored(name);
  // Without a served version nothing can be asked to go; objects without a route harm nobody.
  if (!page || !resource) return release(key);
  definition.asked = 1;  // one for this loop: answers may come while it runs
  for (const auto& object : page->items) {
    if (mayBeDeleted(*object)) continue;
    ++definition.asked;
    DeleteOptions options;
    options.propagation = Propagation::kBackground;
    options.uid = object->uid();
    deleteAs(context_, Identity::system(), resource, std::string(object->ns()),
             std::string(object->name()), std::move(options),
             [this, key](const Outcome<>& result) { answered(key, result); });
  }
  answered(key, {});
}

void CustomResources::answered(const store::Key& key, const Outcome<>& result) {
  auto found = definitions_.find(key.name);
  if (found == definitions_.end()) return;
  const bool failed = !result && result.error().status != 404;
  if (failed) queue_.retry(key);
  if (--found->second.asked > 0) return;
  const Interned name = Resources::storedName(found->second.group, found->second.plural);
  if (context_.store.count(name) == 0) return queue_.add(key);
  auto change = [now = context_.clock.wall()](json::Object& crd) -> Outcome<> {
    if (isBeingDeleted(crd))
      setCondition(crd,
                   {"Terminating", true, "InstanceDeletionInProgress",
                    "CustomResource deletion is in progress"},
                   now);
    return {};
  };
  changeObject(context_, definitionsOf(context_), "", key.name, std::move(change),
               [](const auto&) {});
}

void CustomResources::release(const store::Key& key) {
  auto change = [](json::Object& crd) -> Outcome<> {
    if (isBeingDeleted(crd)) removeFinalizer(crd, kCustomResourceFinalizer);
    return {};
  };
  auto done = [this, key](const Outcome<store::ObjectPtr>& result) {
    result || result.error().status == 404 ? queue_.forget(key) : queue_.retry(key);
  };
  changeObject(context_, definitionsOf(context_), "", key.name, std::move(change), std::move(done));
}

}  // namespace mangrove::apiserver
