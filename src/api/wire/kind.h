#pragma once
// The kinds we touch: what they are called, and where the server keeps them.
//
//   kind::kPod.path("default", "web-0", "status")
//     → "/api/v1/namespaces/default/pods/web-0/status"
//   kind::kNodeMetric.path("", "n1")
//     → "/apis/slo.koordinator.sh/v1alpha1/nodemetrics/n1"
//   const Kind* k = findKind("apps/v1", "ReplicaSet");
//
// kinds.def lists them. Constants with static storage: pass `const Kind&`, compare with ==. A kind that is not in the
// catalogue (found by discovery) can be built the same way as long as its texts outlive it.

#include <span>
#include <string>
#include <string_view>

namespace mangrove::api {

struct Kind {
  std::string_view group;  // "" is the core group
  std::string_view version;
  std::string_view kind;
  std::string_view plural;
  bool namespaced = false;
  bool hasStatus = false;  // status is a subresource of its own

  std::string apiVersion() const;  // "v1", "apps/v1"
  std::string listKind() const { return std::string(kind) + "List"; }
  // Where objects are listed and created; "" lists all namespaces. Parts are percent-encoded.
  std::string path(std::string_view ns = "") const;
  std::string path(std::string_view ns, std::string_view name,
                   std::string_view subresource = "") const;
  bool operator==(const Kind&) const = default;
};

struct GroupVersion {
  std::string_view group;
  std::string_view version;
  bool operator==(const GroupVersion&) const = default;
};
// "v1" is the core group; "a/b/c" is nothing (both empty), as are "", "/v1" and "apps/".
GroupVersion parseApiVersion(std::string_view apiVersion);

std::span<const Kind> allKinds();
// nullptr when it is not in the catalogue.
const Kind* findKind(std::string_view apiVersion, std::string_view kind);
// By the name in a path; the version may be "".
const Kind* findPlural(std::string_view group, std::string_view version, std::string_view plural);

namespace kind {
#define KIND(name, ...) inline constexpr Kind name{__VA_ARGS__};
#include "api/wire/kinds.def"
#undef KIND
}  // namespace kind
}  // namespace mangrove::api
