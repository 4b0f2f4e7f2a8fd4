#pragma once
// gRPC for unary calls over a unix socket, both sides (the framing is net/http/grpc_wire.h).
//
//   Result<GrpcReply> reply = grpcCall("/var/lib/kubelet/pod-resources/kubelet.sock",
//                                      "/v1.PodResourcesLister/List", message, 5s);
//   grpcServe(std::move(socket), handler, stop);              // server: until the peer goes
//
// Blocking; each connection belongs to one thread.

#include <functional>
#include <memory>
#include <string>

#include "base/number/units.h"
#include "base/os/fd.h"
#include "base/result.h"
#include "net/http/grpc_wire.h"

namespace mangrove::net {

// Method ("/v1.PodResourcesLister/List") and message.
using GrpcHandler = std::function<GrpcReply(const std::string& method, const std::string& message)>;

// An error when the peer cannot be reached or does not speak gRPC; its own refusals are replies.
Result<GrpcReply> grpcCall(const std::string& socketPath, const std::string& method,
                           const std::string& message, Duration timeout);

// Serves one accepted connection until the peer closes it or `stop` becomes readable.
void grpcServe(UniqueFd socket, const GrpcHandler& handler, int stop);

// A connection to whoever listens there.
Result<UniqueFd> connectUnix(const std::string& path);

// A listening unix socket that blocks; a stale file of that name is replaced. Who may connect is
// for the folder to say.
Result<UniqueFd> listenGrpc(const std::string& path);

}  // namespace mangrove::net
