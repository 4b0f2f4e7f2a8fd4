#pragma once
// Just enough gRPC for unary calls: both sides of HTTP/2, one message there and one back, without a
// socket. The framing is nghttp2's.
//
//   GrpcWire wire(GrpcWire::Side::kClient);
//   const int32_t id = wire.request("10.0.0.7:9000", "/grpc.health.v1.Health/Check", message);
//   send(wire.take());
//   while (!wire.stream(id).isOver()) { if (!wire.give(received())) break; send(wire.take()); }
//   Result<GrpcReply> reply = wire.replyTo(id);
//
// A connection belongs to one thread at a time.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace mangrove::net {

struct GrpcReply {
  std::string message;
  bool compressed = false;  // then the message is opaque to us
  int status = 0;           // gRPC's: 0 ok, 12 unimplemented, 14 unavailable, …
  std::string text = {};    // why not
};

struct GrpcStream {
  std::string method, body;  // received
  int status = 14;           // gRPC's, from the trailers
  std::string text;
  bool complete = false, closed = false;
  bool isOver() const { return complete || closed; }

  std::string out;  // to be sent
  size_t sent = 0;
  std::vector<std::pair<std::string, std::string>> trailers;  // after `out`; server only
};

class GrpcWire {
 public:
  enum class Side { kClient, kServer };
  explicit GrpcWire(Side side);
  ~GrpcWire();
  GrpcWire(const GrpcWire&) = delete;
  GrpcWire& operator=(const GrpcWire&) = delete;

  // The stream's number; negative when the connection cannot take another.
  int32_t request(const std::string& authority, const std::string& method, std::string message);
  void respond(int32_t id, const GrpcReply& reply);
  // The one message of a request that has arrived; false when it is not exactly one.
  static bool messageOf(const GrpcStream& stream, std::string& message);
  // What the peer said: its refusals are replies, an answer that is none is an error.
  Result<GrpcReply> replyTo(int32_t id);

  // Nobody waits for the answer any more.
  void cancel(int32_t id);

  std::map<int32_t, GrpcStream>& streams();
  GrpcStream& stream(int32_t id) { return streams()[id]; }

  std::string take();                 // bytes for the peer; empty when there are none
  bool give(std::string_view bytes);  // from the peer; false: it does not speak HTTP/2
  bool isFinished() const;            // neither side has anything to say any more

 private:
  struct Session;
  std::unique_ptr<Session> session_;
};

}  // namespace mangrove::net
