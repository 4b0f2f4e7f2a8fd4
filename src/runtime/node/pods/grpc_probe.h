#pragma once
// Asks a server over gRPC whether it is healthy (grpc.health.v1.Health/Check), without blocking
// anybody.
//
//   auto cancel = askHealth(loop, clock, address, "10.0.0.7:9000", "", [](ActionResult r) { … });
//
// Called on any thread; `done` runs once on the loop's thread, unless cancel() came first.

#include <functional>
#include <string>

#include <netinet/in.h>

#include "base/clock.h"
#include "base/fn.h"
#include "base/result.h"
#include "net/http/grpc_wire.h"
#include "runtime/node/network/fd_loop.h"
#include "runtime/node/pods/action.h"

namespace mangrove::runtime {

// The message of a check: one field, the service's name; none when it is empty. Pure.
std::string healthRequest(std::string_view service);
// What the answer says of the service's health, in the words of a kubelet. Pure.
ActionResult judgeHealth(const Result<net::GrpcReply>& reply);

Fn askHealth(FdLoop& loop, Clock& clock, const sockaddr_in& address, const std::string& authority,
             const std::string& service, std::function<void(ActionResult)> done);

}  // namespace mangrove::runtime
