#pragma once
// The embedded server on the network, with all it keeps in one directory: what `mangrove apiserver`
// and `mangrove up` have in common. While it runs it looks at its credentials once a minute: its
// certificate is renewed in time, and a file that was replaced or removed is taken over or made anew
// without a restart (data_dir.h).
//
//   auto serving = Serving::start(context, flags, {.dataDir = dir, .bind = "127.0.0.1"});
//   fmt::print("{}\n", (*serving)->announcement());
//
// Owner thread.

#include <memory>
#include <string>
#include <vector>

#include "apiserver/audit/log.h"
#include "apiserver/data_dir.h"
#include "apiserver/embedded.h"
#include "apiserver/http_front.h"
#include "apiserver/server_flags.h"
#include "base/clock.h"
#include "base/lifetime.h"
#include "frame/role.h"

namespace mangrove::apiserver {

struct ServingOptions {
  std::string dataDir;
  std::string bind = "127.0.0.1";
  uint16_t port = 6443;
  size_t windowEvents = 0;  // as EmbeddedOptions
  Bytes windowBytes = {};
  net::IsOwnAddress isOwnAddress = {};  // as EmbeddedOptions
};

class Serving {
 public:
  static Result<std::unique_ptr<Serving>> start(frame::RoleContext& context,
                                                const ServerFlags& flags, ServingOptions options);
  ~Serving() = default;
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;

  EmbeddedServer& embedded() { return *embedded_; }
  uint16_t port() const { return front_->port(); }
  // "API server on https://127.0.0.1:6443, kubeconfig /…"
  std::string announcement() const;
  // The same port at one more address of this machine, which becomes part of the certificate.
  Result<> listenAlso(const std::string& address);
  // One more address by which clients know the server, for the certificate alone.
  Result<> alsoKnownAs(const std::string& address);
  // What changed in the directory since the last look; it comes by itself once a minute.
  void look();
  // No more requests; the embedded server stays.
  void stopListening(Duration grace);

 private:
  Serving(frame::RoleContext& context, ServingOptions options);
  Result<> openAll(const ServerFlags& flags);
  Result<> listen();
  Result<> takeOver(Credentials now);
  Result<> lookAtSecrets();
  void lookLater();
  net::TlsServerOptions tls() const;
  std::string url() const;

  frame::RoleContext& context_;
  const ServingOptions options_;
  std::vector<std::string> addresses_;  // in the certificate, beside loopback
  Credentials credentials_;
  SecretTexts secrets_;
  std::string kubeconfig_;
  std::unique_ptr<audit::AuditLog> audit_;  // outlives who answers requests
  std::unique_ptr<EmbeddedServer> embedded_;
  std::unique_ptr<HttpFront> front_;
  Timer next_;
  Lifetime life_;
};

}  // namespace mangrove::apiserver
