#pragma once
// One connected byte stream, whatever is below it: TCP, TLS or a unix socket. Internal to net/. The
// HTTP code sees only this, so it is compiled once and without Asio. I/O thread only; completions
// never run inside the call that asked.

#include <memory>
#include <string>
#include <string_view>

#include "base/fn.h"
#include "base/os/fd.h"
#include "base/result.h"
#include "net/http/http.h"
#include "net/io_thread.h"
#include "net/tls/tls_context.h"

namespace mangrove::net {

struct IoResult {
  enum class Kind { kOk, kEnd, kCancelled, kBroken };
  Kind kind = Kind::kOk;
  size_t bytes = 0;
  std::string why;  // for kBroken

  bool ok() const { return kind == Kind::kOk; }
};
using IoDone = UniqueFn<void(IoResult)>;

class Transport {
 public:
  virtual ~Transport() = default;

  // TLS only; a plain transport is ready at once. Must be done before anything else.
  virtual void handshake(UniqueFn<void(Result<>)> done) = 0;
  // One read and one write at a time. The buffer must live until `done`.
  virtual void read(char* to, size_t size, IoDone done) = 0;
  virtual void write(std::string_view data, IoDone done) = 0;
  // No more writes; the peer reads the end of data. Not while a write is under way.
  virtual void finish() = 0;
  // Pending operations end with kCancelled.
  virtual void close() = 0;
  // A look at the socket without reading: true when the peer has closed or sent something nobody
  // asked for.
  virtual bool looksClosed() = 0;
  // After the handshake.
  virtual PeerInfo peer() const = 0;
};
using TransportPtr = std::shared_ptr<Transport>;

// `name` is what errors and PeerInfo call the other side.
TransportPtr makePlainTransport(IoThread& io, UniqueFd fd, std::string name);
// `host`: whom a client wants to reach; servers pass none.
Result<TransportPtr> makeTlsClient(IoThread& io, UniqueFd fd, std::string name,
                                   std::shared_ptr<TlsContext> context, const std::string& host);
Result<TransportPtr> makeTlsServer(IoThread& io, UniqueFd fd, std::string name,
                                   std::shared_ptr<TlsContext> context);

}  // namespace mangrove::net
