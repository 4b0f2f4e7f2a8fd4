#pragma once
// The certificates of the webhook server: issued by ourselves, kept where all replicas find them,
// renewed long before they end. Pure functions but for the random keys; time is passed in.
//
//   auto certs = readCertificates(secretData);                  // nullopt: none yet
//   if (!isFresh(certs, names, now)) certs = renew(certs, names, now);
//
// The authority lives ten years as in the reference; the server's certificate one year. Each is
// replaced when a third of its life is left. A new authority is published beside the old one, so
// that replicas which still serve the old certificate are trusted until they have seen the new one.
//
// Any thread.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/number/units.h"
#include "base/result.h"

namespace mangrove::manager {

struct WebhookCertificates {
  std::string caCert;  // the authority; older ones after it
  std::string caKey;
  std::string cert;
  std::string key;
  bool operator==(const WebhookCertificates&) const = default;
};

// What the server is called: dns names, addresses.
struct ServerNames {
  std::vector<std::string> dns;
  std::vector<std::string> addresses;
};
// <service>, <service>.<ns>, <service>.<ns>.svc.
ServerNames namesOfService(const std::string& service, const std::string& ns);
ServerNames namesOfHost(const std::string& host);

inline constexpr std::chrono::hours kCaLife(24 * 3650);
inline constexpr std::chrono::hours kServerLife(24 * 365);

// Readable, for these names, and with more than a third of their life left. The error says what is
// not so.
Result<> checkFresh(const WebhookCertificates& certs, const ServerNames& names, WallTime now);

// A new server certificate, and a new authority when the old one is absent, broken or old.
Result<WebhookCertificates> renew(const std::optional<WebhookCertificates>& old,
                                  const ServerNames& names, WallTime now);

// By the file names of the reference: ca-cert.pem, ca-key.pem, cert.pem, key.pem; also written as
// tls.crt and tls.key. nullopt: one of the four is missing.
using CertificateFiles = std::map<std::string, std::string>;
std::optional<WebhookCertificates> certificatesIn(const CertificateFiles& files);
CertificateFiles filesOf(const WebhookCertificates& certs);

}  // namespace mangrove::manager
