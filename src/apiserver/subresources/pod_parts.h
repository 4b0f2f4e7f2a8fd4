#pragma once
// The subresources of a pod that are neither status nor scheduling: resize (cpu and memory of
// running containers) and ephemeralcontainers (kubectl debug). Owner thread.

#include "apiserver/core/server.h"

namespace mangrove::apiserver {

// GET, PUT and PATCH, with the whole pod as the body. Everything but the part in question is
// ignored: containers' resources and resizePolicy, or spec.ephemeralContainers.
void servePodResize(Context& context, const Call& call, ResourcePtr pods, ResponderPtr to);
void serveEphemeralContainers(Context& context, const Call& call, ResourcePtr pods,
                              ResponderPtr to);

}  // namespace mangrove::apiserver
