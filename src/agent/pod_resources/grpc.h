#pragma once
// Just enough gRPC for unary calls over a unix socket: both sides of HTTP/2, one message there and
// one back. The framing is nghttp2's.
//
//   Result<GrpcReply> reply = grpcCall("/var/lib/kubelet/pod-resources/kubelet.sock",
//                                      "/v1.PodResourcesLister/List", message, 5s);
//   GrpcConnection connection(std::move(socket), handler);   // server: serve() until the peer goes
//
// Blocking; each connection belongs to one thread.

#include <functional>
#include <memory>
#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "base/units.h"

namespace mangrove::agent {

struct GrpcReply {
  std::string message;
  bool compressed = false;  // then the message is opaque to us
  int status = 0;           // gRPC's: 0 ok, 12 unimplemented, 14 unavailable, …
  std::string text = {};    // why not
};

// Method ("/v1.PodResourcesLister/List") and message.
using GrpcHandler = std::function<GrpcReply(const std::string& method, const std::string& message)>;

// An error when the peer cannot be reached or does not speak gRPC; its own refusals are replies.
Result<GrpcReply> grpcCall(const std::string& socketPath, const std::string& method,
                           const std::string& message, Duration timeout);

// Serves one accepted connection until the peer closes it or `stop` becomes readable.
void grpcServe(UniqueFd socket, const GrpcHandler& handler, int stop);

// A listening unix socket; a stale file of that name is replaced.
Result<UniqueFd> listenUnix(const std::string& path);

}  // namespace mangrove::agent
