#include "apiserver/output/discovery.h"

#include <algorithm>

#include <fmt/core.h>

#include "apiserver/output/accept.h"
#include "base/text/strings.h"
#include "json/value.h"

namespace mangrove::apiserver {

namespace {

constexpr std::string_view kAggregatedGroup = "apidiscovery.k8s.io";

// "v2" or "v2beta1" when the client prefers the aggregated form, "" for the plain one.
Outcome<std::string> aggregatedVersion(std::string_view accept) {
  for (const MediaRange& range : parseAccept(accept)) {
    if (!range.takesJson()) continue;
    const std::string_view as = range.parameter("as"), v = range.parameter("v");
    if (as.empty()) return "";
    const bool known = as == "APIGroupDiscoveryList" && range.parameter("g") == kAggregatedGroup;
    if (known && (v == "v2" || v == "v2beta1")) return std::string(v);
  }
  return refuse(notAcceptable(
      "application/json, application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"));
}

const Group* findGroup(std::span<const Group> groups, std::string_view name) {
  for (const Group& group : groups)
    if (group.name == name) return &group;
  return nullptr;
}

std::optional<std::string> versionDocument(const Group& group, std::string_view version) {
  for (const GroupVersion& one : group.versions)
    if (one.version == version) return resourceListText(one);
  return std::nullopt;
}

// "/apis/apps/v1" → {"apps", "v1"}; nullopt for what cannot be a discovery path.
std::optional<std::string> documentAt(std::span<const Group> groups, std::string_view path) {
  const auto parts = split(path.substr(1), '/');
  const bool core = parts[0] == "api";
  if (parts.size() == 1) {
    if (core) return apiVersionsText();
    return groupListText(groups);
  }
  const Group* group = findGroup(groups, core ? std::string_view() : parts[1]);
  if (group == nullptr || (!core && parts[1].empty())) return std::nullopt;
  if (core) return parts.size() == 2 ? versionDocument(*group, parts[1]) : std::nullopt;
  if (parts.size() == 2) return groupText(*group);
  return parts.size() == 3 ? versionDocument(*group, parts[2]) : std::nullopt;
}

}  // namespace

const std::vector<Group>& Discovery::groups() {
  if (generation_ != resources_.generation()) {
    groups_ = groupsOf(resources_.all());
    documents_.clear();
    generation_ = resources_.generation();
  }
  return groups_;
}

const Discovery::Document& Discovery::aggregated(bool core, std::string_view version) {
  const std::span<const Group> all = groups();
  const std::string key = fmt::format("{} {}", core ? "api" : "apis", version);
  auto found = documents_.find(key);
  if (found != documents_.end()) return found->second;
  const size_t cores = !all.empty() && all[0].name.empty() ? 1 : 0;
  auto part = core ? all.first(cores) : all.subspan(cores);
  std::string text = aggregatedText(part, version);
  std::string tag = contentTag(text);
  return documents_[key] = {std::move(text), std::move(tag)};
}

Answer Discovery::plain(std::string_view path) {
  const auto& all = groups();
  auto found = documents_.find(path);
  if (found == documents_.end()) {
    auto text = documentAt(all, path);
    if (!text) return answer::noSuchPath(path);
    found = documents_.emplace(path, Document{std::move(*text), ""}).first;
  }
  return answer::json(200, found->second.body);
}

Answer Discovery::answer(std::string_view path, std::string_view accept) {
  auto version = aggregatedVersion(accept);
  if (!version) return version.error();
  const bool root = path == "/api" || path == "/apis";
  if (version->empty() || !root) return plain(path);
  const Document& document = aggregated(path == "/api", *version);
  Answer a = answer::json(200, document.body);
  a.etag = document.tag;
  // Clients tell the two forms apart by exactly these parameters.
  a.contentType = fmt::format("application/json;g={};v={};as=APIGroupDiscoveryList",
                              kAggregatedGroup, *version);
  return a;
}

Answer Discovery::paths() {
  std::vector<std::string> paths = {"/api",        "/apis",       "/healthz", "/livez",  "/metrics",
                                    "/openapi/v2", "/openapi/v3", "/readyz",  "/version"};
  for (const Group& group : groups()) {
    if (!group.name.empty()) paths.push_back("/apis/" + group.name);
    for (const GroupVersion& version : group.versions) {
      paths.push_back("/" + version.path());
      paths.push_back("/openapi/v3/" + version.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  json::Array list(paths.begin(), paths.end());
  return answer::json(200, json::write(json::Object{{"paths", std::move(list)}}));
}

std::string versionText() {
  return json::write(json::Object{{"major", "1"},
                                  {"minor", "35"},
                                  {"gitVersion", kServerVersion},
                                  {"gitCommit", ""},
                                  {"gitTreeState", "clean"},
                                  {"buildDate", "1970-01-01T00:00:00Z"},
                                  {"goVersion", ""},
                                  {"compiler", "g++"},
                                  {"platform", "linux/amd64"}});
}

}  // namespace mangrove::apiserver
