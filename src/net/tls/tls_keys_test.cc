#include "net/tls/tls_keys.h"

#include <gtest/gtest.h>

#include "net/tls/tls.h"

namespace mangrove::net {
namespace {

using namespace std::chrono_literals;
const WallTime kNow{std::chrono::seconds(1'800'000'000)};

KeyPair testCa() {
  return *makeCa("ca", kNow, kNow + 1h);
}

TEST(TlsKeys, CertificatesSayWhatWasAsked) {
  CertificateInfo wanted{"admin",
                         {"system:masters", "dev"},
                         {"a.example", "*.b.example"},
                         {"127.0.0.1", "fd00::1"},
                         kNow,
                         kNow + 2h,
                         false};
  auto pair = issue(testCa(), wanted);
  ASSERT_TRUE(pair) << pair.error().text();
  EXPECT_TRUE(pair->keyPem.starts_with("-----BEGIN PRIVATE KEY-----"));
  auto read = readCertificate(pair->certPem);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->commonName, wanted.commonName);
  EXPECT_EQ(read->organizations, wanted.organizations);
  EXPECT_EQ(read->dnsNames, wanted.dnsNames);
  EXPECT_EQ(read->ipAddresses, wanted.ipAddresses);
  EXPECT_EQ(read->notBefore, wanted.notBefore);
  EXPECT_EQ(read->notAfter, wanted.notAfter);
  EXPECT_FALSE(read->isCa);
  EXPECT_TRUE(readCertificate(testCa().certPem)->isCa);
}

TEST(TlsKeys, RefusesNonsense) {
  KeyPair ca = testCa();
  EXPECT_FALSE(issue(ca, {"x", {}, {}, {"no-address"}, kNow, kNow + 1h, false}));
  EXPECT_FALSE(issue(ca, {"x", {}, {}, {}, kNow, kNow, false}));
  EXPECT_FALSE(issue(ca, {"", {}, {}, {}, kNow, kNow + 1h, false}));
  EXPECT_FALSE(issue({ca.certPem, testCa().keyPem}, {"x", {}, {}, {}, kNow, kNow + 1h, false}));
  EXPECT_FALSE(issue({"rubbish", ca.keyPem}, {"x", {}, {}, {}, kNow, kNow + 1h, false}));
  EXPECT_FALSE(readCertificate("rubbish"));
  EXPECT_FALSE(readCertificate(ca.keyPem));
}

TEST(Tls, OptionsAreCheckedWithASentence) {
  KeyPair ca = testCa();
  KeyPair other = testCa();
  struct Row {
    TlsClientOptions options;
    const char* part;
  };
  const Row rows[] = {
      {{"rubbish", "", "", "", false}, "CA certificates: no certificate"},
      {{ca.certPem, ca.certPem, "", "", false}, "one of them is empty"},
      {{ca.certPem, ca.certPem, other.keyPem, "", false}, "does not belong"},
      {{ca.certPem, ca.certPem, "rubbish", "", false}, "no usable private key"},
      {{ca.certPem + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "", "", "",
        false},
       "certificate 2"},
  };
  for (const Row& row : rows) {
    auto result = checkTls(row.options);
    ASSERT_FALSE(result) << row.part;
    EXPECT_NE(result.error().text().find(row.part), std::string::npos) << result.error().text();
  }
  EXPECT_TRUE(checkTls(TlsClientOptions{ca.certPem, other.certPem, other.keyPem, "", false}));
  EXPECT_TRUE(checkTls(TlsServerOptions{ca.certPem, ca.keyPem, "", ClientCertificates::kNone}));
  EXPECT_FALSE(checkTls(TlsServerOptions{ca.certPem, ca.keyPem, "", ClientCertificates::kRequire}));
  EXPECT_FALSE(checkTls(TlsServerOptions{"", "", "", ClientCertificates::kNone}));
}

TEST(TlsKeys, ACertificateForServersSaysSoAndBySomebody) {
  const KeyPair ca = testCa(), other = testCa();
  CertificateInfo wanted{"s", {}, {"a"}, {}, kNow, kNow + 1h, false};
  EXPECT_FALSE(readCertificate(issue(ca, wanted)->certPem)->serverOnly);
  wanted.serverOnly = true;
  const auto pair = issue(ca, wanted);
  ASSERT_TRUE(pair) << pair.error().text();
  EXPECT_TRUE(readCertificate(pair->certPem)->serverOnly);
  EXPECT_TRUE(*isSignedBy(pair->certPem, ca.certPem));
  EXPECT_FALSE(*isSignedBy(pair->certPem, other.certPem));
  EXPECT_FALSE(isSignedBy("rubbish", ca.certPem));
}

}  // namespace
}  // namespace mangrove::net
