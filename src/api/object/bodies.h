#pragma once
// Bodies of the few requests that are neither a patch nor an object of ours: binding, eviction,
// deletion.
//
//   client.create(kind::kPod.path(ns, name, "binding"), bindingBody(pod.meta, "n1"));
//
// Pure functions, any thread.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/object/meta.h"
#include "json/fwd.h"

namespace mangrove::api {

struct DeleteOptions {
  std::optional<int64_t> gracePeriodSeconds;  // nullopt: the object's own
  Uid uid;                                    // "": any
  std::string resourceVersion;                // "": any
  std::string propagationPolicy;              // Orphan, Background, Foreground; "": the server's
  bool dryRun = false;

  json::Object toJson() const;
};

// The pod's UID goes along, so that a namesake created meanwhile is not bound.
json::Object bindingBody(const ObjectMeta& pod, std::string_view node);
json::Object evictionBody(const ObjectMeta& pod, const DeleteOptions& options);

}  // namespace mangrove::api
