#pragma once
// What the server itself decides about objects, kind by kind: which fields a client may not set,
// what a new object starts with, when its generation grows. Pure functions on values; the rest of
// the request path knows no kinds.

#include <string>
#include <string_view>

#include "apiserver/core/resources.h"
#include "base/clock.h"
#include "base/number/rng.h"
#include "json/value.h"

namespace mangrove::apiserver {

// Which part of an object a write may change.
enum class Part {
  kMain,    // everything but status, where status is a subresource
  kStatus,  // status and, for built-in kinds, labels and annotations
};

struct Strategy {
  bool keepsStatusOnCreate = false;  // nodes register themselves with their status
  bool unconditionalUpdate = true;   // an update without resourceVersion replaces whatever is there
  bool createOnUpdate = false;       // PUT of something new creates it
  bool counted = false;              // has metadata.generation
  bool graceful = false;             // deletion waits for whoever runs it (pods on a node)
  bool answersDeleted = false;       // a delete is answered with the last object, not with a Status
  void (*finish)(json::Object& object) = nullptr;  // what follows from the object as admitted
};
const Strategy& strategyOf(const KindInfo& kind);

// Fields only the server writes are reset, the kind's own start values set. `object` has passed
// decoding.
void prepareCreate(const KindInfo& kind, json::Object& object);
// `object` keeps what it may change; everything else comes from `old`.
void prepareUpdate(const KindInfo& kind, Part part, json::Object& object, const json::Object& old);
// After admission, before storing: uid, creationTimestamp, generation.
void stampCreate(const KindInfo& kind, json::Object& object, WallTime now, Rng& rng);
// What follows from the object as admitted: a pod's class, a namespace's label.
void finishCreate(const KindInfo& kind, json::Object& object);
// generation + 1 when anything but metadata and status changed.
void stampUpdate(const KindInfo& kind, json::Object& object, const json::Object& old);

std::string makeUid(Rng& rng);  // RFC 4122 version 4
std::string generatedName(std::string_view generateName,
                          Rng& rng);  // at most 63 characters, 5 random ones

}  // namespace mangrove::apiserver
