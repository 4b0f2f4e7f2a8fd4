#pragma once
// What a TLS connection needs, as PEM text (reading files is the caller's business, so are rotation
// and kubeconfig's inline data). TLS 1.2 is the least we speak. Plain values; any thread.

#include <string>

#include "base/result.h"

namespace mangrove::net {

struct TlsClientOptions {
  // Certificates that may have signed the server's. Empty: those of the operating system.
  std::string caPem;
  // Our own certificate (and chain) and its key; both or none.
  std::string certPem;
  std::string keyPem;
  // The name to find in the server's certificate and to send as SNI, instead of the URL's host.
  std::string serverName;
  // Accepts any certificate. For experiments; the connection is encrypted, but not to anybody in
  // particular.
  bool insecureSkipVerify = false;
};

enum class ClientCertificates {
  kNone,     // not asked for
  kRequest,  // asked for; absent or unknown ones give an unverified peer (what kube-apiserver does)
  kRequire,  // no connection without one that `clientCaPem` signed
};

struct TlsServerOptions {
  std::string certPem;  // leaf first, then intermediates
  std::string keyPem;
  std::string clientCaPem;
  ClientCertificates clientCertificates = ClientCertificates::kNone;
};

// Reads the PEM texts as a connection would, and says what is wrong with them.
Result<> checkTls(const TlsClientOptions& options);
Result<> checkTls(const TlsServerOptions& options);

}  // namespace mangrove::net
