#include "net/tls/tls_keys.h"

#include <arpa/inet.h>
#include <openssl/rand.h>

#include "net/tls/certificate.h"

namespace mangrove::net {
namespace {

using BigNumberPtr = std::unique_ptr<BIGNUM, FreeWith<BN_free>>;
using ExtensionPtr = std::unique_ptr<X509_EXTENSION, FreeWith<X509_EXTENSION_free>>;

constexpr int kVersion3 = 2;      // X.509 counts versions from zero
constexpr int kSerialBits = 127;  // random, positive, within the 20 octets of RFC 5280

Failure opensslFailure(const char* what) {
  return fail(Code::kInternal, "{}: {}", what, opensslError());
}

std::string pemOf(X509* certificate) {
  BioPtr out(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(out.get(), certificate);
  char* data = nullptr;
  long size = BIO_get_mem_data(out.get(), &data);
  return std::string(data, static_cast<size_t>(size));
}

std::string pemOf(EVP_PKEY* key) {
  BioPtr out(BIO_new(BIO_s_mem()));
  PEM_write_bio_PKCS8PrivateKey(out.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  char* data = nullptr;
  long size = BIO_get_mem_data(out.get(), &data);
  return std::string(data, static_cast<size_t>(size));
}

bool setTime(ASN1_TIME* field, WallTime time) {
  auto seconds = std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
  return ASN1_TIME_set(field, static_cast<time_t>(seconds)) != nullptr;
}

bool setSerial(X509* certificate) {
  BigNumberPtr serial(BN_new());
  return BN_rand(serial.get(), kSerialBits, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) &&
         BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(certificate));
}

bool addEntry(X509_NAME* name, int nid, const std::string& value) {
  return X509_NAME_add_entry_by_NID(name, nid, MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(value.data()),
                                    static_cast<int>(value.size()), -1, 0);
}

bool setSubject(X509* certificate, const CertificateInfo& info) {
  X509_NAME* name = X509_get_subject_name(certificate);
  for (const auto& organization : info.organizations)
    if (!addEntry(name, NID_organizationName, organization)) return false;
  return info.commonName.empty() || addEntry(name, NID_commonName, info.commonName);
}

bool addExtension(X509* certificate, X509* issuer, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value));
  return extension && X509_add_ext(certificate, extension.get(), -1);
}

GENERAL_NAME* dnsName(const std::string& name) {
  GENERAL_NAME* out = GENERAL_NAME_new();
  ASN1_IA5STRING* value = ASN1_IA5STRING_new();
  ASN1_STRING_set(value, name.data(), static_cast<int>(name.size()));
  GENERAL_NAME_set0_value(out, GEN_DNS, value);
  return out;
}

Result<GENERAL_NAME*> ipName(const std::string& address) {
  unsigned char bytes[16];
  int size = address.find(':') == address.npos ? 4 : 16;
  if (::inet_pton(size == 4 ? AF_INET : AF_INET6, address.c_str(), bytes) != 1)
    return invalid("'{}' is no IP address", address);
  GENERAL_NAME* out = GENERAL_NAME_new();
  ASN1_OCTET_STRING* value = ASN1_OCTET_STRING_new();
  ASN1_OCTET_STRING_set(value, bytes, size);
  GENERAL_NAME_set0_value(out, GEN_IPADD, value);
  return out;
}

Result<> addAltNames(X509* certificate, const CertificateInfo& info) {
  if (info.dnsNames.empty() && info.ipAddresses.empty()) return {};
  NamesPtr names(GENERAL_NAMES_new());
  for (const auto& name : info.dnsNames) sk_GENERAL_NAME_push(names.get(), dnsName(name));
  for (const auto& address : info.ipAddresses) {
    auto name = ipName(address);
    if (!name) return pass(name.error());
    sk_GENERAL_NAME_push(names.get(), *name);
  }
  if (!X509_add1_ext_i2d(certificate, NID_subject_alt_name, names.get(), 0, X509V3_ADD_DEFAULT))
    return opensslFailure("adding the alternative names");
  return {};
}

bool addUsage(X509* certificate, X509* issuer, const CertificateInfo& info) {
  const bool isCa = info.isCa;
  const char* purpose = info.serverOnly   ? "serverAuth"
                        : info.clientOnly ? "clientAuth"
                                          : "serverAuth,clientAuth";
  const char* constraints = isCa ? "critical,CA:TRUE" : "critical,CA:FALSE";
  const char* usage = isCa ? "critical,keyCertSign,cRLSign,digitalSignature"
                           : "critical,digitalSignature,keyEncipherment";
  return addExtension(certificate, issuer, NID_basic_constraints, constraints) &&
         addExtension(certificate, issuer, NID_key_usage, usage) &&
         (isCa || addExtension(certificate, issuer, NID_ext_key_usage, purpose)) &&
         addExtension(certificate, issuer, NID_subject_key_identifier, "hash") &&
         addExtension(certificate, issuer, NID_authority_key_identifier, "keyid");
}

bool fillBasics(X509* certificate, EVP_PKEY* key, const CertificateInfo& info) {
  return X509_set_version(certificate, kVersion3) && setSerial(certificate) &&
         setTime(X509_getm_notBefore(certificate), info.notBefore) &&
         setTime(X509_getm_notAfter(certificate), info.notAfter) && setSubject(certificate, info) &&
         X509_set_pubkey(certificate, key);
}

Result<> checkWish(const CertificateInfo& info) {
  if (info.notAfter <= info.notBefore) return invalid("it would end before it begins");
  if (info.commonName.empty() && info.dnsNames.empty() && info.ipAddresses.empty())
    return invalid("it would name nobody: want a common name, a DNS name or an IP address");
  return {};
}

// Signs with the issuer's key; without an issuer the certificate signs itself.
Result<std::string> certify(const CertificateInfo& info, EVP_PKEY* key, X509* issuer,
                            EVP_PKEY* issuerKey) {
  if (auto ok = checkWish(info); !ok) return pass(ok.error());
  X509Ptr certificate(X509_new());
  if (!key || !certificate || !fillBasics(certificate.get(), key, info))
    return opensslFailure("filling in the certificate");
  X509* signer = issuer ? issuer : certificate.get();
  if (!X509_set_issuer_name(certificate.get(), X509_get_subject_name(signer)) ||
      !addUsage(certificate.get(), signer, info))
    return opensslFailure("filling in the certificate");
  if (auto ok = addAltNames(certificate.get(), info); !ok) return pass(ok.error());
  if (!X509_sign(certificate.get(), issuerKey, EVP_sha256()))
    return opensslFailure("signing the certificate");
  return pemOf(certificate.get());
}

Result<KeyPair> makePair(const CertificateInfo& info, X509* issuer, EVP_PKEY* issuerKey) {
  KeyPtr key(EVP_EC_gen("P-256"));
  auto certificate = certify(info, key.get(), issuer, issuerKey ? issuerKey : key.get());
  if (!certificate) return pass(certificate.error());
  return KeyPair{std::move(*certificate), pemOf(key.get())};
}

struct Issuer {
  X509Ptr certificate;
  KeyPtr key;
};
Result<Issuer> openIssuer(const KeyPair& ca) {
  auto issuers = parseCertificates(ca.certPem);
  if (!issuers) return issuers.error().in("certificate authority");
  auto key = parseKey(ca.keyPem);
  if (!key) return key.error().in("key of the certificate authority");
  if (X509_check_private_key(issuers->front().get(), key->get()) != 1) {
    opensslError();
    return invalid("the key of the certificate authority does not belong to its certificate");
  }
  return Issuer{std::move(issuers->front()), std::move(*key)};
}

}  // namespace

Result<KeyPair> makeCa(const std::string& commonName, WallTime notBefore, WallTime notAfter) {
  CertificateInfo info;
  info.commonName = commonName;
  info.notBefore = notBefore;
  info.notAfter = notAfter;
  info.isCa = true;
  auto pair = makePair(info, nullptr, nullptr);
  if (!pair) return pair.error().in("certificate authority '{}'", commonName);
  return pair;
}

Result<KeyPair> issue(const KeyPair& ca, const CertificateInfo& info) {
  auto issuer = openIssuer(ca);
  if (!issuer) return pass(issuer.error());
  auto pair = makePair(info, issuer->certificate.get(), issuer->key.get());
  if (!pair) return pair.error().in("certificate for '{}'", info.commonName);
  return pair;
}

Result<std::string> signRequest(const KeyPair& ca, const std::string& requestPem,
                                const CertificateInfo& info) {
  auto issuer = openIssuer(ca);
  if (!issuer) return pass(issuer.error());
  auto request = parseRequest(requestPem);
  if (!request) return pass(request.error());
  auto certificate = certify(info, X509_REQ_get0_pubkey(request->get()), issuer->certificate.get(),
                             issuer->key.get());
  if (!certificate) return certificate.error().in("certificate for '{}'", info.commonName);
  return certificate;
}

Result<bool> isSignedBy(const std::string& certPem, const std::string& caPem) {
  auto certificates = parseCertificates(certPem);
  if (!certificates) return pass(certificates.error());
  auto authorities = parseCertificates(caPem);
  if (!authorities) return pass(authorities.error());
  const int verdict =
      X509_verify(certificates->front().get(), X509_get0_pubkey(authorities->front().get()));
  if (verdict != 1) opensslError();  // takes the reason off the queue
  return verdict == 1;
}

}  // namespace mangrove::net
