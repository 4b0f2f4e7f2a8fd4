#pragma once
// The four kinds of patch a client may send, applied to a value. Pure.

#include <string>

#include "apiserver/answer.h"
#include "apiserver/core/call.h"
#include "apiserver/core/resources.h"
#include "json/arena.h"

namespace mangrove::apiserver {

enum class PatchType { kJson, kMerge, kStrategic, kApply };

struct Patch {
  PatchType type = PatchType::kMerge;
  json::Value body;
  bool force = false;  // kApply: take fields from other managers
};

// 415 for a content type that is no patch, or a strategic patch of a custom kind.
Outcome<Patch> readPatch(const Call& call, const Resource& resource);
// Not for kApply, which needs the books (apply/managed_fields.h). The result is in `storage`.
Outcome<json::Value> patched(const Patch& patch, const Resource& resource,
                             const json::Object& current, json::Storage storage = {});

}  // namespace mangrove::apiserver
