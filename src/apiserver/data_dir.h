#pragma once
// What a server keeps beside its database: its certificate authority, its own certificate, the
// administrator's token, and the kubeconfig that holds both for a person. Everything is made on
// first use, with mode 0600, and never replaced while it is readable; the server's certificate is
// made anew when it nears its end, or when the authority or the addresses are others. So removing a
// file is how it is rotated: a server that runs makes another one (serving.h). Any thread.

#include <string>
#include <vector>

#include "base/number/units.h"
#include "base/result.h"
#include "net/tls/tls_keys.h"

namespace mangrove::apiserver {

struct Credentials {
  std::string
      caPem;  // the authority that signs, then those before it whose certificates still count
  net::KeyPair serving;
  std::string adminToken;
};

// `addresses` are the names and addresses the certificate is good for, besides loopback and the
// in-cluster names. `trusted`: authorities so far, which a new one is put before; "" at the start.
Result<Credentials> openCredentials(const std::string& dir,
                                    const std::vector<std::string>& addresses, WallTime now,
                                    const std::string& trusted);

// What openCredentials() signs with, as it is now.
Result<net::KeyPair> readAuthority(const std::string& dir);

// The other two, as they are written: to see whether somebody replaced them. The signing key is made
// when it is missing.
struct SecretTexts {
  std::string tokens, signingKey;
};
Result<SecretTexts> readSecrets(const std::string& dir);

// Writes `dir`/kubeconfig for the administrator and returns its path.
Result<std::string> writeKubeconfig(const std::string& dir, const std::string& server,
                                    const Credentials& credentials);

}  // namespace mangrove::apiserver
