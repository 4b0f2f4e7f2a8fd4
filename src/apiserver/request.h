#pragma once
// What a client asks for, read from method, path and query: the grammar of Kubernetes' REST paths.
//
//   parseRequest("GET", "/apis/apps/v1/namespaces/prod/deployments/web/scale?dryRun=All")
//     → verb get, group apps, version v1, namespace prod, resource deployments, name web,
//     subresource scale
//
// Paths outside of the object tree (/version, /healthz, /openapi/…) have isResource = false and
// keep their path. Pure; any thread. Tricks are refused here: empty segments, "." and "..", encoded
// slashes and control characters.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/object/verbs.h"
#include "base/result.h"

namespace mangrove::apiserver {

using api::Verb;
using api::verbName;

struct RequestInfo {
  Verb verb = Verb::kGet;
  bool isResource = false;
  std::string path;  // decoded, without query
  std::string group, version, resource;
  std::string ns;  // "" for cluster-scoped objects and lists over all namespaces
  std::string name;
  std::string subresource;                                      // "status", "log", "proxy/…"
  std::vector<std::pair<std::string, std::string>> parameters;  // of the query, decoded, in order

  // First value, or "".
  std::string_view parameter(std::string_view key) const;
  bool has(std::string_view key) const;
  // Kubernetes' reading of booleans in queries: "", "0", "false" (any case) are false when the key
  // is there.
  bool flag(std::string_view key) const;
};

// kInvalid for what no server could understand, kUnsupported for a method HTTP knows but we do not.
Result<RequestInfo> parseRequest(std::string_view method, std::string_view target);

}  // namespace mangrove::apiserver
