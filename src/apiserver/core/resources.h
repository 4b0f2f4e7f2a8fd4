#pragma once
// The resources the server serves right now: the built-in kinds, and those that
// CustomResourceDefinitions added. One table for routing, discovery, RBAC reviews and OpenAPI.
//
//   const Resource* pods = resources.find("", "v1", "pods");
//
// Owner thread. Pointers stay valid until the resource is removed or replaced, which happens
// between requests only; what outlives a request (a watch) keeps the shared_ptr.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/kinds/catalogue.h"
#include "base/text/interned.h"

namespace mangrove::apiserver {

struct Resource {
  std::shared_ptr<const KindInfo> kind;  // as served under this version
  Interned stored;  // its name in the store, the same for all versions: "deployments.apps"
  std::string storageApiVersion;  // the apiVersion written into stored objects
};
using ResourcePtr = std::shared_ptr<const Resource>;

class Resources {
 public:
  Resources();  // the built-in kinds

  ResourcePtr find(std::string_view group, std::string_view version, std::string_view plural) const;
  ResourcePtr findKind(std::string_view group, std::string_view version,
                       std::string_view kind) const;
  // Whatever version is preferred.
  ResourcePtr findStored(Interned stored) const;
  const std::vector<ResourcePtr>& all() const { return all_; }

  // All served versions of one custom resource at once; replaces what was there.
  void putCustom(std::string_view group, std::string_view plural,
                 std::vector<ResourcePtr> versions);
  void removeCustom(std::string_view group, std::string_view plural);
  // Grows with every change: discovery and OpenAPI documents are made anew when it has.
  uint64_t generation() const { return generation_; }

  static Interned storedName(std::string_view group,
                             std::string_view plural);  // "pods", "deployments.apps"

 private:
  std::vector<ResourcePtr> all_;
  uint64_t generation_ = 1;
};

}  // namespace mangrove::apiserver
