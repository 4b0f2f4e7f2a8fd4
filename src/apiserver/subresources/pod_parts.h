#pragma once
// The subresources of a pod that are neither status nor scheduling: resize (cpu and memory of
// running containers), ephemeralcontainers (kubectl debug), and what only a node can answer.
// Owner thread.

#include "apiserver/core/server.h"
#include "apiserver/subresources/node_runner.h"

namespace mangrove::apiserver {

// GET, PUT and PATCH, with the whole pod as the body. Everything but the part in question is
// ignored: containers' resources and resizePolicy, or spec.ephemeralContainers.
void servePodResize(Context& context, const Call& call, ResourcePtr pods, ResponderPtr to);
void serveEphemeralContainers(Context& context, const Call& call, ResourcePtr pods,
                              ResponderPtr to);

// log, exec, attach, portforward. Without a runner: 501 and a sentence.
void serveFromNode(Context& context, NodeRunner* runner, const Call& call, ResourcePtr pods,
                   ResponderPtr to);

}  // namespace mangrove::apiserver
