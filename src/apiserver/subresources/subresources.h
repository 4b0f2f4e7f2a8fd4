#pragma once
// Everything below an object's own path that is not status: who composes the server registers it
// all with one call.
//
//   serveSubresources(server, context, nullptr);     // no node runner: log and exec say so
//
// `context` and what `runner` (may be empty) finds outlive the server. Owner thread.

#include "apiserver/core/server.h"
#include "apiserver/subresources/node_parts.h"

namespace mangrove::apiserver {

void serveSubresources(Server& server, Context& context, FindRunner runner);

}  // namespace mangrove::apiserver
