#pragma once
// The settings of a TLS endpoint in OpenSSL's form, shared by its connections, and what a finished
// or failed handshake tells about the peer. Internal to net/. Thread-safe: settings never change,
// the kept session has a lock.

#include <memory>
#include <string>

#include "base/result.h"
#include "net/http/http.h"
#include "net/tls/tls.h"

struct ssl_st;

namespace mangrove::net {

class TlsContext {
 public:
  static Result<std::shared_ptr<TlsContext>> client(const TlsClientOptions& options);
  static Result<std::shared_ptr<TlsContext>> server(const TlsServerOptions& options);
  virtual ~TlsContext() = default;

  // A new connection; the caller owns it. Client: `host` is whom we want to reach.
  virtual Result<ssl_st*> connect(const std::string& host) = 0;
  virtual Result<ssl_st*> accept() = 0;
};

// After a handshake.
PeerInfo tlsPeer(ssl_st* ssl);
// Why the handshake with `peer` ("10.0.0.1:6443") failed; `cause` is what the socket layer said.
Error tlsHandshakeError(ssl_st* ssl, const std::string& peer, const std::string& cause);
// True for alerts by which a server refuses us after our half of the handshake (TLS 1.3): it never
// saw a request.
bool isCertificateRefusal(const std::string& cause);

}  // namespace mangrove::net
