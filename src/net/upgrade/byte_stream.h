#pragma once
// A raw two-way connection, what is left of HTTP after "101 Switching Protocols": WebSocket, SPDY
// and HTTP/2 start here. It works the same over TCP, TLS and unix sockets.
//
//   stream->read([s = stream.get()](Result<std::string> got) {
//     if (got && !got->empty()) s->write(*got, {});            // echo
//   });
//
// Any thread may call; callbacks run on an I/O thread. Destroying the stream closes the connection,
// and no callback runs after the destructor has returned (except when it is destroyed inside its
// own callback).

#include <string>

#include "base/fn.h"
#include "base/result.h"

namespace mangrove::net {

class ByteStream {
 public:
  using ReadDone = UniqueFn<void(Result<std::string>)>;
  using WriteDone = UniqueFn<void(Result<>)>;

  virtual ~ByteStream() = default;
  // One read at a time. An empty string is the peer's end of data.
  virtual void read(ReadDone done) = 0;
  // Writes are queued and keep their order; `done` may be empty.
  virtual void write(std::string data, WriteDone done) = 0;
  // Tells the peer that no more data comes once all writes are done; reading goes on.
  virtual void finish() = 0;
  // Drops the connection at once; what is pending ends with kCancelled.
  virtual void close() = 0;
};

}  // namespace mangrove::net
