#pragma once
// OpenAPI documents: /openapi/v3 (an index with one document per group-version) and /openapi/v2
// (everything in one, for older clients). What kubectl explain, validation, diff and apply read.
//
//   OpenApiDocuments documents(resources);
//   to->answer(documents.answer(call.info.path, call.accept, hash));   // serve.h does that
//
// A document is made when it is asked for. It stays until its resources change; the index names
// each one with a hash of its content, so that clients know what they have already. Owner thread.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/answer.h"
#include "apiserver/core/resources.h"
#include "apiserver/output/groups.h"

namespace mangrove::apiserver {

class OpenApiDocuments {
 public:
  explicit OpenApiDocuments(const Resources& resources) : resources_(resources) {}
  // Any path at or below /openapi/. JSON only: 406 for clients that want protobuf and nothing else.
  // `hash` is the parameter of that name: a document asked for by its hash never changes, and who
  // asks for one that is no more is shown the way to the present one.
  Answer answer(std::string_view path, std::string_view accept, std::string_view hash = "");

 private:
  struct Document {
    std::vector<ResourcePtr> from;  // what it was made of
    std::string tag;                // of its content; "" until somebody wants to know
    std::string body;               // "" until somebody asks for it
  };
  const std::vector<Group>& groups();
  Document& documentFor(const GroupVersion& version);
  Answer index();
  Answer groupVersion(std::string_view path, std::string_view hash);  // "apis/apps/v1"
  Answer byTag(const GroupVersion& version, std::string_view hash);
  Answer everything();

  const Resources& resources_;
  uint64_t generation_ = 0;  // of groups_ and swagger_
  std::vector<Group> groups_;
  std::map<std::string, Document, std::less<>> documents_;  // by GroupVersion::path()
  std::string swagger_, swaggerTag_;
};

// The documents, pure.
std::string openApiV3Text(const GroupVersion& version);
std::string openApiV2Text(std::span<const Group> groups);

}  // namespace mangrove::apiserver
