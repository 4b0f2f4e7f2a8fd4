#include "manager/webhook/certificates.h"

#include <algorithm>

#include "base/text/time_text.h"
#include "net/tls/tls.h"
#include "net/tls/tls_keys.h"

namespace mangrove::manager {
namespace {

constexpr const char* kCaCert = "ca-cert.pem";
constexpr const char* kCaKey = "ca-key.pem";
constexpr const char* kCert = "cert.pem";
constexpr const char* kKey = "key.pem";
constexpr int kShareLeft = 3;  // renewed when one third of the life is left

// Clocks of API servers may be behind ours.
constexpr std::chrono::hours kBackdated(1);

Result<> checkLife(const std::string& pem, std::string_view what, WallTime now) {
  auto info = net::readCertificate(pem);
  if (!info) return info.error().in("{}", what);
  const auto life = info->notAfter - info->notBefore;
  if (now < info->notBefore || now > info->notAfter - life / kShareLeft)
    return invalid("{}: ends {} and has less than a third of its life left", what,
                   formatTime(info->notAfter));
  return {};
}

Result<> checkNames(const std::string& pem, const ServerNames& names) {
  auto info = net::readCertificate(pem);
  if (!info) return pass(info.error());
  const auto lacks = [](const std::vector<std::string>& have,
                        const std::vector<std::string>& want) {
    return std::find_if(want.begin(), want.end(), [&](const std::string& name) {
      return std::find(have.begin(), have.end(), name) == have.end();
    });
  };
  if (auto dns = lacks(info->dnsNames, names.dns); dns != names.dns.end())
    return invalid("the certificate is not for '{}'", *dns);
  if (auto ip = lacks(info->ipAddresses, names.addresses); ip != names.addresses.end())
    return invalid("the certificate is not for '{}'", *ip);
  return {};
}

bool isAddress(const std::string& host) {
  return host.find(':') != std::string::npos ||
         host.find_first_not_of("0123456789.") == std::string::npos;
}

// The old authority with its key, when it can still sign.
std::optional<net::KeyPair> usableCa(const std::optional<WebhookCertificates>& old, WallTime now) {
  if (!old || !checkLife(old->caCert, "authority", now)) return std::nullopt;
  return net::KeyPair{old->caCert, old->caKey};
}

}  // namespace

ServerNames namesOfService(const std::string& service, const std::string& ns) {
  return {{service, service + "." + ns, service + "." + ns + ".svc"}, {}};
}

ServerNames namesOfHost(const std::string& host) {
  if (isAddress(host)) return {{}, {host}};
  return {{host}, {}};
}

Result<> checkFresh(const WebhookCertificates& certs, const ServerNames& names, WallTime now) {
  if (auto ca = checkLife(certs.caCert, "authority", now); !ca) return ca;
  if (auto leaf = checkLife(certs.cert, "server certificate", now); !leaf) return leaf;
  if (auto named = checkNames(certs.cert, names); !named) return named;
  return net::checkTls(
      net::TlsServerOptions{certs.cert, certs.key, "", net::ClientCertificates::kNone});
}

Result<WebhookCertificates> renew(const std::optional<WebhookCertificates>& old,
                                  const ServerNames& names, WallTime now) {
  const WallTime since = now - kBackdated;
  auto ca = usableCa(old, now);
  std::string bundle = ca ? old->caCert : "";
  const auto sign = [&](const net::KeyPair& authority) {
    net::CertificateInfo info;
    info.commonName = names.dns.empty() ? names.addresses.front() : names.dns.back();
    info.dnsNames = names.dns;
    info.ipAddresses = names.addresses;
    info.notBefore = since;
    info.notAfter = now + kServerLife;
    return net::issue(authority, info);
  };
  auto leaf = ca ? sign(*ca) : Result<net::KeyPair>(invalid("no authority"));
  if (!leaf) {  // none, too old, or its key does not fit: a new one, with the old one beside it
    auto made = net::makeCa("mangrove-webhook-ca", since, now + kCaLife);
    if (!made) return made.error().in("making the webhook's authority");
    bundle = made->certPem;
    if (old && net::readCertificate(old->caCert)) bundle += old->caCert;
    ca = std::move(*made);
    leaf = sign(*ca);
  }
  if (!leaf) return leaf.error().in("issuing the webhook's certificate");
  return WebhookCertificates{bundle, ca->keyPem, leaf->certPem, leaf->keyPem};
}

std::optional<WebhookCertificates> certificatesIn(const CertificateFiles& files) {
  WebhookCertificates out;
  for (auto [name, into] : {std::pair{kCaCert, &out.caCert}, std::pair{kCaKey, &out.caKey},
                            std::pair{kCert, &out.cert}, std::pair{kKey, &out.key}}) {
    const auto found = files.find(name);
    if (found == files.end() || found->second.empty()) return std::nullopt;
    *into = found->second;
  }
  return out;
}

CertificateFiles filesOf(const WebhookCertificates& certs) {
  return {{kCaCert, certs.caCert}, {kCaKey, certs.caKey},   {kCert, certs.cert},
          {kKey, certs.key},       {"tls.crt", certs.cert}, {"tls.key", certs.key}};
}

}  // namespace mangrove::manager
