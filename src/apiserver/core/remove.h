#pragma once
// delete and deletecollection. An object goes at once, or is marked (deletionTimestamp) and waits:
// for its finalizers, for the node that runs it (pods), for its contents (namespaces), for its
// dependents (foreground). Owner thread.

#include <optional>
#include <string>

#include "apiserver/core/call.h"
#include "apiserver/core/server.h"

namespace mangrove::apiserver {

enum class Propagation { kDefault, kBackground, kForeground, kOrphan };

struct DeleteOptions {
  std::optional<int64_t> gracePeriodSeconds;
  Propagation propagation = Propagation::kDefault;
  std::string uid;              // precondition
  std::string resourceVersion;  // precondition
  bool dryRun = false;
};
// From the body (a DeleteOptions object, may be empty) and the query; the body wins.
Outcome<DeleteOptions> readDeleteOptions(const Call& call);

void deleteObject(Context& context, Call call, ResourcePtr resource, ResponderPtr to);
void deleteCollection(Context& context, Call call, ResourcePtr resource, ResponderPtr to);

// For subresources and controllers: the same without a client. `done` gets nothing, or the refusal.
using Removed = UniqueFn<void(Outcome<>)>;
void deleteAs(Context& context, const Identity& who, ResourcePtr resource, std::string ns,
              std::string name, DeleteOptions options, Removed done);

// How the object looks once deletion is asked for; pure. `gone`: nothing keeps it.
struct Deletion {
  json::Value object;
  bool gone = false;
  bool changed = true;  // false: it was being deleted like this already
};
Deletion planDeletion(const KindInfo& kind, json::Value object, const DeleteOptions& options,
                      WallTime now);

inline constexpr std::string_view kForegroundFinalizer = "foregroundDeletion";
inline constexpr std::string_view kOrphanFinalizer = "orphan";

}  // namespace mangrove::apiserver
