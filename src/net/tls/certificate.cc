#include "net/tls/certificate.h"

#include <arpa/inet.h>

#include "base/text/strings.h"

namespace mangrove::net {
namespace {

std::string text(const ASN1_STRING* string) {
  if (!string) return "";
  unsigned char* utf8 = nullptr;
  int size = ASN1_STRING_to_UTF8(&utf8, string);
  if (size < 0) return "";
  std::string out(reinterpret_cast<char*>(utf8), static_cast<size_t>(size));
  OPENSSL_free(utf8);
  return out;
}

std::vector<std::string> entriesOf(const X509_NAME* subject, int nid) {
  std::vector<std::string> values;
  for (int at = X509_NAME_get_index_by_NID(subject, nid, -1); at >= 0;
       at = X509_NAME_get_index_by_NID(subject, nid, at))
    values.push_back(text(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at))));
  return values;
}

std::string ipText(const ASN1_OCTET_STRING* address) {
  char out[INET6_ADDRSTRLEN] = "";
  int family = ASN1_STRING_length(address) == 4 ? AF_INET : AF_INET6;
  if (family == AF_INET6 && ASN1_STRING_length(address) != 16) return "";
  ::inet_ntop(family, ASN1_STRING_get0_data(address), out, sizeof out);
  return out;
}

void readSubject(const X509_NAME* subject, CertificateInfo& info) {
  auto commonNames = entriesOf(subject, NID_commonName);
  if (!commonNames.empty()) info.commonName = commonNames.back();
  info.organizations = entriesOf(subject, NID_organizationName);
}

void readAltNames(void* extension, CertificateInfo& info) {
  NamesPtr names(static_cast<GENERAL_NAMES*>(extension));
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type == GEN_DNS) info.dnsNames.push_back(text(name->d.dNSName));
    if (name->type == GEN_IPADD) info.ipAddresses.push_back(ipText(name->d.iPAddress));
  }
}

WallTime wallTime(const ASN1_TIME* time) {
  std::tm parts{};
  if (!ASN1_TIME_to_tm(time, &parts)) return WallTime{};
  return WallTime(std::chrono::seconds(::timegm(&parts)));
}

}  // namespace

Result<std::vector<X509Ptr>> parseCertificates(const std::string& pem) {
  std::vector<X509Ptr> all;
  BioPtr in = readOnly(pem);
  while (X509* next = PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr))
    all.emplace_back(next);
  bool atEnd = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  std::string problem = opensslError();
  if (!atEnd) return invalid("certificate {} of the PEM text: {}", all.size() + 1, problem);
  if (all.empty()) return invalid("no certificate in the PEM text: want BEGIN CERTIFICATE");
  return all;
}

Result<KeyPtr> parseKey(const std::string& pem) {
  BioPtr in = readOnly(pem);
  // A callback that gives no pass phrase: an encrypted key must not make us ask on the terminal.
  auto noPassphrase = [](char*, int, int, void*) { return 0; };
  KeyPtr key(PEM_read_bio_PrivateKey(in.get(), nullptr, noPassphrase, nullptr));
  if (!key) return invalid("no usable private key in the PEM text: {}", opensslError());
  return key;
}

Result<RequestPtr> parseRequest(const std::string& pem) {
  BioPtr in = readOnly(pem);
  RequestPtr request(PEM_read_bio_X509_REQ(in.get(), nullptr, nullptr, nullptr));
  if (!request) return invalid("no certificate request in the PEM text: {}", opensslError());
  if (X509_REQ_verify(request.get(), X509_REQ_get0_pubkey(request.get())) != 1) {
    opensslError();
    return invalid("the certificate request is not signed by its own key");
  }
  return request;
}

Result<CertificateInfo> readRequest(const std::string& pem) {
  auto request = parseRequest(pem);
  if (!request) return pass(request.error());
  CertificateInfo info;
  readSubject(X509_REQ_get_subject_name(request->get()), info);
  if (STACK_OF(X509_EXTENSION)* extensions = X509_REQ_get_extensions(request->get())) {
    readAltNames(X509V3_get_d2i(extensions, NID_subject_alt_name, nullptr, nullptr), info);
    sk_X509_EXTENSION_pop_free(extensions, X509_EXTENSION_free);
  }
  return info;
}

CertificateInfo describe(X509* certificate) {
  CertificateInfo info;
  readSubject(X509_get_subject_name(certificate), info);
  readAltNames(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr), info);
  info.notBefore = wallTime(X509_get0_notBefore(certificate));
  info.notAfter = wallTime(X509_get0_notAfter(certificate));
  info.isCa = X509_check_ca(certificate) == 1;
  const uint32_t purposes = X509_get_extended_key_usage(certificate);
  info.serverOnly = purposes == XKU_SSL_SERVER;
  info.clientOnly = purposes == XKU_SSL_CLIENT;
  return info;
}

std::string namesText(const CertificateInfo& info) {
  std::vector<std::string> names;
  for (const auto& name : info.dnsNames) names.push_back("DNS:" + name);
  for (const auto& address : info.ipAddresses) names.push_back("IP:" + address);
  return names.empty() ? "no name" : join(names, ", ");
}

Result<CertificateInfo> readCertificate(const std::string& pem) {
  auto certificates = parseCertificates(pem);
  if (!certificates) return pass(certificates.error());
  return describe(certificates->front().get());
}

}  // namespace mangrove::net
