#pragma once
// The last step of every write: resourceVersion into the object, bytes to the store, the answer
// when they are durable.

#include "apiserver/answer.h"
#include "apiserver/core/server.h"
#include "base/fn.h"
#include "json/value.h"
#include "store/store.h"

namespace mangrove::apiserver {

using Stored = UniqueFn<void(Result<store::ObjectPtr>)>;

// `seen` null: create, else the version the object was made from. kExists and kConflict arrive
// through `done`, like everything else, but possibly before this returns.
void putObject(Context& context, ResourcePtr resource, json::Value object,
               const store::ObjectPtr& seen, Stored done);
// `last` is what watchers are shown: the object's final state.
void removeObject(Context& context, ResourcePtr resource, json::Value last,
                  const store::ObjectPtr& seen, Stored done);

// Events are forgotten after an hour, as in Kubernetes.
inline constexpr Duration kEventLife = std::chrono::hours(1);

}  // namespace mangrove::apiserver
