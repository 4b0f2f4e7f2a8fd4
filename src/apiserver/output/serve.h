#pragma once
// Puts the documents of this folder on the paths of a server. Call each once, before the first
// request.
//
//   serveDiscovery(server, context);
//   serveOpenApi(server, context);
//
// Owner thread.

#include "apiserver/core/server.h"

namespace mangrove::apiserver {

// /api, /apis and what is below them, /version, and the list of paths at /. The last one also
// answers 404 for everything nobody took.
void serveDiscovery(Server& server, Context& context);
// /openapi/v2, /openapi/v3 and what is below it.
void serveOpenApi(Server& server, Context& context);

}  // namespace mangrove::apiserver
