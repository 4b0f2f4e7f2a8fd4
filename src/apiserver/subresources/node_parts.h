#pragma once
// The parts of a pod that only its node can answer: log, exec, attach, portforward. Here they are
// read from the request, checked and put on the wire; frame::NodeRunner does them. Owner thread.

#include <functional>

#include "apiserver/core/server.h"
#include "frame/node_runner.h"

namespace mangrove::apiserver {

// Null while nobody runs pods here; asked for each request.
using FindRunner = std::function<frame::NodeRunner*()>;

// Without a runner: 501 and a sentence. exec, attach and portforward need the right to `create`
// them as well, whatever the method: a WebSocket is opened with GET.
void serveFromNode(Context& context, const FindRunner& runner, const Call& call, ResourcePtr pods,
                   ResponderPtr to);

}  // namespace mangrove::apiserver
