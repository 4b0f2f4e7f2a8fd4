#pragma once
// Proves who we are, request by request, while tokens rotate and expire underneath. Holds what a
// ClientConfig names: a token, a token file (read again every minute, because Kubernetes replaces
// it), an exec plugin (run again before its credential expires), user and password, impersonation,
// and certificates in files (looked at every minute).
//
//   credentials.authorize([=](Result<Authorization> a) { a->headers … });
//   if (status == 401 && credentials.refused(a.generation)) tryOnceMore();
//
// Any thread. `ready` runs in the calling thread when nothing has to be fetched, otherwise on the
// plugin's thread; many callers share one run of the plugin. The destructor ends a running plugin.

#include <memory>

#include "base/clock.h"
#include "base/result.h"
#include "client/http/exec_plugin.h"
#include "client/http/kubeconfig.h"
#include "net/http/http.h"
#include "net/tls/tls.h"

namespace mangrove::client {

struct Authorization {
  net::Headers headers;
  uint64_t generation = 0;  // which credential it was
};

class Credentials {
 public:
  Credentials(ClientConfig config, Clock& clock, ExecLimits limits = {});
  ~Credentials();
  Credentials(const Credentials&) = delete;
  Credentials& operator=(const Credentials&) = delete;

  using Ready = UniqueFn<void(Result<Authorization>)>;
  void authorize(Ready ready);
  // The server answered 401 to that generation. True when a newer credential is there or can be
  // got.
  bool refused(uint64_t generation);

  // Certificates as they are now; those of a plugin that has not run yet are still missing. Fails
  // when a file cannot be read.
  Result<net::TlsClientOptions> tls() const;
  // Called when the material differs from what tls() gave before. Set once, first.
  void onTlsChange(UniqueFn<void(const net::TlsClientOptions&)> changed);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mangrove::client
