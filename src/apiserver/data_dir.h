#pragma once
// What a server keeps beside its database: its certificate authority, its own certificate, the
// administrator's token, and the kubeconfig that holds both for a person. Everything is made on
// first use, with mode 0600, and never replaced while it is readable; the server's certificate is
// made anew when it nears its end. At start; any thread.

#include <string>
#include <vector>

#include "base/number/units.h"
#include "base/result.h"
#include "net/tls/tls_keys.h"

namespace mangrove::apiserver {

struct Credentials {
  std::string caPem;
  net::KeyPair serving;
  std::string adminToken;
};

// `addresses` are the names and addresses the certificate is good for, besides loopback and the
// in-cluster names.
Result<Credentials> openCredentials(const std::string& dir,
                                    const std::vector<std::string>& addresses, WallTime now);

// Writes `dir`/kubeconfig for the administrator and returns its path.
Result<std::string> writeKubeconfig(const std::string& dir, const std::string& server,
                                    const Credentials& credentials);

}  // namespace mangrove::apiserver
