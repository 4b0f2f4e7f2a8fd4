#include "apiserver/output/openapi.h"

#include <fmt/core.h>

#include "apiserver/output/accept.h"
#include "apiserver/output/discovery.h"
#include "apiserver/output/openapi_paths.h"
#include "apiserver/output/openapi_schema.h"

namespace mangrove::apiserver {

namespace {

json::Object infoText() {
  return {{"title", "Kubernetes"}, {"version", kServerVersion}};
}

}  // namespace

std::string openApiV3Text(const GroupVersion& version) {
  DefinitionWriter definitions(OpenApi::kV3);
  json::Object paths;
  addPaths(version, OpenApi::kV3, definitions, paths);
  return json::write(json::Object{{"openapi", "3.0.0"},
                                  {"info", infoText()},
                                  {"paths", std::move(paths)},
                                  {"components", json::Object{{"schemas", definitions.take()}}}});
}

std::string openApiV2Text(std::span<const Group> groups) {
  DefinitionWriter definitions(OpenApi::kV2);
  json::Object paths;
  for (const Group& group : groups)
    for (const GroupVersion& version : group.versions)
      addPaths(version, OpenApi::kV2, definitions, paths);
  return json::write(json::Object{{"swagger", "2.0"},
                                  {"info", infoText()},
                                  {"paths", std::move(paths)},
                                  {"definitions", definitions.take()}});
}

const std::vector<Group>& OpenApiDocuments::groups() {
  if (generation_ != resources_.generation()) {
    groups_ = groupsOf(resources_.all());
    swagger_.clear();
    std::erase_if(documents_, [&](const auto& entry) {
      for (const Group& group : groups_)
        for (const GroupVersion& version : group.versions)
          if (version.path() == entry.first) return version.resources != entry.second.from;
      return true;
    });
    generation_ = resources_.generation();
  }
  return groups_;
}

OpenApiDocuments::Document& OpenApiDocuments::documentFor(const GroupVersion& version) {
  Document& document = documents_[version.path()];
  document.from = version.resources;
  return document;
}

namespace {

std::string urlOf(const GroupVersion& version, std::string_view tag) {
  return fmt::format("/openapi/v3/{}?hash={}", version.path(), tag);
}

Answer tagged(const std::string& body, const std::string& tag) {
  Answer a = answer::json(200, body);
  a.etag = tag;
  return a;
}

}  // namespace

// Needs every document's content once; the bodies are made again for those who ask, because most
// are never asked for.
Answer OpenApiDocuments::index() {
  json::Object paths;
  for (const Group& group : groups()) {
    for (const GroupVersion& version : group.versions) {
      Document& document = documentFor(version);
      if (document.tag.empty()) document.tag = contentTag(openApiV3Text(version));
      paths[version.path()] = json::Object{{"serverRelativeURL", urlOf(version, document.tag)}};
    }
  }
  const std::string text = json::write(json::Object{{"paths", std::move(paths)}});
  return tagged(text, contentTag(text));
}

Answer OpenApiDocuments::byTag(const GroupVersion& version, std::string_view hash) {
  Document& document = documentFor(version);
  if (document.body.empty()) document.body = openApiV3Text(version);
  if (document.tag.empty()) document.tag = contentTag(document.body);
  if (!hash.empty() && hash != document.tag) {
    Answer moved = answer::json(301, "");
    moved.location = urlOf(version, document.tag);
    return moved;
  }
  Answer a = tagged(document.body, document.tag);
  a.immutable = !hash.empty();
  return a;
}

Answer OpenApiDocuments::groupVersion(std::string_view path, std::string_view hash) {
  for (const Group& group : groups())
    for (const GroupVersion& version : group.versions)
      if (version.path() == path) return byTag(version, hash);
  return answer::noSuchPath("/openapi/v3/" + std::string(path));
}

Answer OpenApiDocuments::everything() {
  const auto& all = groups();
  if (swagger_.empty()) {
    swagger_ = openApiV2Text(all);
    swaggerTag_ = contentTag(swagger_);
  }
  return tagged(swagger_, swaggerTag_);
}

namespace {

constexpr std::string_view kProtobuf = "application/com.github.proto-openapi.spec.v2";

bool wantsProtobufAlone(std::string_view accept) {
  return accept.find(kProtobuf) != std::string_view::npos &&
         accept.find("json") == std::string_view::npos && accept.find("*/*") == accept.npos;
}

// kubectl asks for version 2 in protobuf when a kind is not in version 3, only to see that it is
// nowhere: a document with a name, no paths and no definitions says that.
Answer emptyDocument() {
  using namespace std::string_view_literals;
  Answer a =
      answer::json(200, std::string("\x0a\x03"
                                    "2.0\x12\x0e\x0a\x08Mangrove\x12\x02v1\x42\x00\x4a\x00"sv));
  a.contentType = std::string(kProtobuf) + ".v1.0+protobuf";
  return a;
}

}  // namespace

Answer OpenApiDocuments::answer(std::string_view path, std::string_view accept,
                                std::string_view hash) {
  constexpr std::string_view kThree = "/openapi/v3";
  if (path == "/openapi/v2" && wantsProtobufAlone(accept)) return emptyDocument();
  if (auto ok = requireJson(accept); !ok) return ok.error();
  if (path == "/openapi/v2") return everything();
  if (path == kThree) return index();
  if (path.starts_with("/openapi/v3/")) return groupVersion(path.substr(kThree.size() + 1), hash);
  return answer::noSuchPath(path);
}

}  // namespace mangrove::apiserver
