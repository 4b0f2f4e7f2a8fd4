#pragma once
// A small certificate authority: ECDSA P-256 keys and X.509 certificates as PEM text, for the
// embedded API server, the webhooks and tests. Pure functions of their arguments but for the random
// keys; any thread. Time is passed in.
//
//   auto ca = makeCa("mangrove-ca", now, now + 10 * 365 * 24h);
//   auto server = issue(*ca, {.commonName = "mangrove", .dnsNames = {"localhost"}, .ipAddresses =
//   {"127.0.0.1"},
//                             .notBefore = now, .notAfter = now + 365 * 24h});
//   auto admin = issue(*ca, {.commonName = "admin", .organizations = {"system:masters"}, …});

#include <string>
#include <vector>

#include "base/number/units.h"
#include "base/result.h"

namespace mangrove::net {

struct KeyPair {
  std::string certPem;
  std::string keyPem;  // PKCS #8, unencrypted: store it with mode 0600
};

// What a certificate shall say, and what one says.
struct CertificateInfo {
  std::string commonName;                  // Kubernetes: the user
  std::vector<std::string> organizations;  // Kubernetes: the groups
  std::vector<std::string> dnsNames;       // "*.example.org" is allowed
  std::vector<std::string> ipAddresses;
  WallTime notBefore{};
  WallTime notAfter{};
  bool isCa = false;
  bool serverOnly = false;  // else usable for servers and for clients alike …
  bool clientOnly = false;  // … unless this is set
};

Result<KeyPair> makeCa(const std::string& commonName, WallTime notBefore, WallTime notAfter);
// Signs a new key pair. `info.isCa` makes an intermediate authority.
Result<KeyPair> issue(const KeyPair& ca, const CertificateInfo& info);

// What a certificate request (PKCS #10, PEM) asks to be called; kInvalid also when it is not signed
// by the key it names.
Result<CertificateInfo> readRequest(const std::string& pem);
// A certificate for the key of a request, saying what `info` says: its PEM text.
Result<std::string> signRequest(const KeyPair& ca, const std::string& requestPem,
                                const CertificateInfo& info);

// Whether the first certificate of `certPem` was signed by the first of `caPem`. kInvalid for texts
// that are no certificates.
Result<bool> isSignedBy(const std::string& certPem, const std::string& caPem);

// What the first certificate of a PEM text says; for "renew before it expires" and for diagnosis.
Result<CertificateInfo> readCertificate(const std::string& pem);

}  // namespace mangrove::net
