#pragma once
// How objects are called in caches, queues and messages: "namespace/name", or "name" alone for
// cluster-scoped ones. Kinds are those of api/wire/kind.h, named here as client::Kind and
// client::kind::….

#include <string>
#include <string_view>

#include "api/wire/kind.h"

namespace mangrove::client {

using api::Kind;
namespace kind = api::kind;

inline std::string keyOf(std::string_view ns, std::string_view name) {
  if (ns.empty()) return std::string(name);
  std::string key;
  key.reserve(ns.size() + 1 + name.size());
  key.append(ns).append("/").append(name);
  return key;
}

struct KeyParts {
  std::string_view ns;  // "" for cluster-scoped objects
  std::string_view name;
};
inline KeyParts splitKey(std::string_view key) {
  size_t slash = key.find('/');
  if (slash == std::string_view::npos) return {"", key};
  return {key.substr(0, slash), key.substr(slash + 1)};
}

}  // namespace mangrove::client
