#pragma once
// Reading what a certificate says. Internal to net/; tls_keys.h is the public side.

#include <string>
#include <vector>

#include "base/result.h"
#include "net/tls/openssl_ptr.h"
#include "net/tls/tls_keys.h"

namespace mangrove::net {

// All certificates of a PEM text, in order; an error when there is none or one cannot be read.
Result<std::vector<X509Ptr>> parseCertificates(const std::string& pem);
Result<KeyPtr> parseKey(const std::string& pem);

// Checked: its signature is of the key inside.
Result<RequestPtr> parseRequest(const std::string& pem);

CertificateInfo describe(X509* certificate);
// "DNS:a.example, IP:127.0.0.1": for messages about names that do not match.
std::string namesText(const CertificateInfo& info);

}  // namespace mangrove::net
