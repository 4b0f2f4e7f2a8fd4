#pragma once
// get and list: from the visible state of the store to an answer. Owner thread; both answer at
// once.

#include "apiserver/core/call.h"
#include "apiserver/core/server.h"

namespace mangrove::apiserver {

Answer getObject(const Context& context, const Call& call, const Resource& resource);
Answer listObjects(const Context& context, const Call& call, const Resource& resource);

// The "resourceVersion" parameter as a revision. nullopt: not given, or "0" (whatever is there).
// 400 when it is no number.
Outcome<std::optional<store::Revision>> revisionParameter(const RequestInfo& info);

}  // namespace mangrove::apiserver
