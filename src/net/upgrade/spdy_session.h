#pragma once
// The server's end of a SPDY/3.1 connection, over any ByteStream: many streams of bytes that the
// client opens, each with a few headers. Kubernetes' clients forward ports this way, and older
// ones run commands.
//
//   auto session = SpdySession::start(std::move(bytes), [](std::shared_ptr<SpdyStream> stream) {
//     stream->headers().get("streamtype");
//     stream->read(…);
//   }, [] { … the connection is over … });
//
// Any thread may call; callbacks run on I/O threads. The session lives until the connection ends or
// its handle is destroyed, which closes the connection; streams may outlive it and then say so.
// Like Kubernetes' own end it has no flow control: a stream nobody reads stops the whole connection
// once it holds kStreamLimit.

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/fn.h"
#include "net/http/http.h"
#include "net/upgrade/byte_stream.h"

namespace mangrove::net {

// True when the request asks to go on in SPDY.
bool wantsSpdy(const HttpRequest& request);
// The 101 with the first of `known` (the server's order of preference) that the client offers in
// X-Stream-Protocol-Version. kUnsupported when it offers none of them.
Result<HttpResponse> spdyHandshake(const HttpRequest& request,
                                   const std::vector<std::string_view>& known);

inline constexpr size_t kSpdyStreamLimit = 512 * 1024;  // unread bytes of one stream
inline constexpr size_t kSpdyMaxStreams = 1024;         // at a time; more are reset

class SpdyStream : public ByteStream {
 public:
  virtual const Headers& headers() const = 0;
};

class SpdySession {
 public:
  using OnStream = UniqueFn<void(std::shared_ptr<SpdyStream>)>;
  [[nodiscard]] static std::unique_ptr<SpdySession> start(std::unique_ptr<ByteStream> bytes,
                                                          OnStream onStream, Fn onEnd);
  ~SpdySession();

 private:
  class Core;
  class Stream;
  explicit SpdySession(std::shared_ptr<Core> core);
  std::shared_ptr<Core> core_;
};

}  // namespace mangrove::net
