// The documents of discovery themselves.

#include "apiserver/output/discovery.h"
#include "base/text/encoding.h"
#include "json/value.h"

namespace mangrove::apiserver {

namespace {

json::Array textsOf(const std::vector<std::string_view>& texts) {
  return json::Array(texts.begin(), texts.end());
}

void putTexts(json::Object& object, std::string_view key,
              const std::vector<std::string_view>& texts) {
  if (!texts.empty()) object[key] = textsOf(texts);
}

// Opaque to clients; changes when objects are stored in another version.
std::string storageHash(const KindInfo& kind) {
  const std::string tag = contentTag(kind.storedApiVersion() + "/" + std::string(kind.kind));
  return base64Encode(*hexDecode(tag));
}

// Things that are only sent, such as reviews, are stored nowhere.
bool isStored(const KindInfo& kind) {
  return kind.can("get") && kind.can("list");
}

json::Object resourceOf(const KindInfo& kind) {
  json::Object out{{"name", kind.plural},
                   {"singularName", kind.singular},
                   {"namespaced", kind.namespaced},
                   {"kind", kind.kind},
                   {"verbs", textsOf(kind.verbs)}};
  putTexts(out, "shortNames", kind.shortNames);
  putTexts(out, "categories", kind.categories);
  if (isStored(kind)) out["storageVersionHash"] = storageHash(kind);
  return out;
}

json::Object subresourceOf(const KindInfo& kind, const Subresource& sub) {
  json::Object out{{"name", std::string(kind.plural) + "/" + std::string(sub.name)},
                   {"singularName", ""},
                   {"namespaced", kind.namespaced}};
  if (sub.group != kind.group || sub.version != kind.version) {
    out["group"] = sub.group;
    out["version"] = sub.version;
  }
  out["kind"] = sub.kind;
  out["verbs"] = textsOf(sub.verbs);
  return out;
}

json::Object groupObject(const Group& group) {
  json::Array versions;
  for (const GroupVersion& version : group.versions)
    versions.push_back(
        json::Object{{"groupVersion", version.text()}, {"version", version.version}});
  json::Value preferred = versions.empty() ? json::Value(json::Object()) : versions.front();
  return json::Object{{"name", group.name},
                      {"versions", std::move(versions)},
                      {"preferredVersion", std::move(preferred)}};
}

json::Object typed(std::string_view kind, std::string_view apiVersion) {
  return json::Object{{"kind", kind}, {"apiVersion", apiVersion}};
}

json::Object responseKind(std::string_view group, std::string_view version, std::string_view kind) {
  return json::Object{{"group", group}, {"version", version}, {"kind", kind}};
}

json::Object aggregatedResource(const KindInfo& kind) {
  json::Object out{{"resource", kind.plural},
                   {"responseKind", responseKind(kind.group, kind.version, kind.kind)},
                   {"scope", kind.namespaced ? "Namespaced" : "Cluster"},
                   {"singularResource", kind.singular},
                   {"verbs", textsOf(kind.verbs)}};
  putTexts(out, "shortNames", kind.shortNames);
  putTexts(out, "categories", kind.categories);
  json::Array subresources;
  for (const Subresource& sub : kind.subresources)
    subresources.push_back(
        json::Object{{"subresource", sub.name},
                     {"responseKind", responseKind(sub.group, sub.version, sub.kind)},
                     {"verbs", textsOf(sub.verbs)}});
  if (!subresources.empty()) out["subresources"] = std::move(subresources);
  return out;
}

json::Object aggregatedGroup(const Group& group) {
  json::Array versions;
  for (const GroupVersion& version : group.versions) {
    json::Array resources;
    for (const ResourcePtr& resource : version.resources)
      resources.push_back(aggregatedResource(*resource->kind));
    versions.push_back(json::Object{{"version", version.version},
                                    {"resources", std::move(resources)},
                                    {"freshness", "Current"}});
  }
  return json::Object{
      {"metadata", json::Object{{"name", group.name}, {"creationTimestamp", nullptr}}},
      {"versions", std::move(versions)}};
}

}  // namespace

std::string apiVersionsText() {
  // No address: everybody reaches this server by the one they used already.
  return json::write(json::Object{{"kind", "APIVersions"},
                                  {"versions", json::Array{"v1"}},
                                  {"serverAddressByClientCIDRs", json::Array()}});
}

std::string groupListText(std::span<const Group> groups) {
  json::Object out = typed("APIGroupList", "v1");
  json::Array list;
  for (const Group& group : groups)
    if (!group.name.empty()) list.push_back(groupObject(group));
  out["groups"] = std::move(list);
  return json::write(out);
}

std::string groupText(const Group& group) {
  json::Object out = typed("APIGroup", "v1");
  for (auto& member : groupObject(group)) out[member.key()] = std::move(member.value());
  return json::write(out);
}

std::string resourceListText(const GroupVersion& version) {
  json::Object out = typed("APIResourceList", "v1");
  json::Array list;
  for (const ResourcePtr& resource : version.resources) {
    list.push_back(resourceOf(*resource->kind));
    for (const Subresource& sub : resource->kind->subresources)
      list.push_back(subresourceOf(*resource->kind, sub));
  }
  out["groupVersion"] = version.text();
  out["resources"] = std::move(list);
  return json::write(out);
}

std::string aggregatedText(std::span<const Group> groups, std::string_view version) {
  json::Object out = typed("APIGroupDiscoveryList", "apidiscovery.k8s.io/" + std::string(version));
  out["metadata"] = json::Object();
  json::Array items;
  for (const Group& group : groups) items.push_back(aggregatedGroup(group));
  out["items"] = std::move(items);
  return json::write(out);
}

}  // namespace mangrove::apiserver
