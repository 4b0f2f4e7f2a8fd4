// Certificates as a kubeconfig gives them: the server's authority, our own, and what is said when
// they do not fit.
#include <gtest/gtest.h>

#include "base/text/encoding.h"
#include "client/http/http_api_client.h"
#include "client/testing/fake_api.h"
#include "net/tls/tls_keys.h"

namespace mangrove::client {
namespace {

using namespace std::chrono_literals;

class HttpTlsTest : public ::testing::Test {
 protected:
  HttpTlsTest()
      : from(realClock().wall() - 1h),
        until(realClock().wall() + 24h),
        ca(*net::makeCa("ca", from, until)),
        api(loop, options()) {
    api.setHook([this](const net::HttpRequest& request) -> std::optional<net::HttpResponse> {
      std::lock_guard lock(mutex);
      peer = request.peer;
      return std::nullopt;
    });
  }
  net::KeyPair issued(const std::string& name, std::vector<std::string> groups = {}) {
    net::CertificateInfo info;
    info.commonName = name;
    info.organizations = std::move(groups);
    info.dnsNames = {"api.test"};
    info.notBefore = from;
    info.notAfter = until;
    return *net::issue(ca, info);
  }
  testing::FakeApiOptions options() {
    net::KeyPair server = issued("server");
    net::TlsServerOptions tls;
    tls.certPem = server.certPem;
    tls.keyPem = server.keyPem;
    tls.clientCaPem = ca.certPem;
    tls.clientCertificates = net::ClientCertificates::kRequest;
    testing::FakeApiOptions out;
    out.tls = tls;
    return out;
  }
  // A kubeconfig text with everything inline, as kubectl users have it.
  Result<ClientConfig> config(const std::string& caPem, const std::string& more) {
    std::string text = fmt::format(
        "current-context: x\ncontexts: [{{name: x, context: {{cluster: c, user: u}}}}]\n"
        "clusters: [{{name: c, cluster: {{server: '{}', tls-server-name: api.test, "
        "certificate-authority-data: {}}}}}]\nusers: [{{name: u, user: {{{}}}}}]\n",
        api.url(), base64Encode(caPem), more);
    auto parsed = parseKubeconfig(text, "inline");
    if (!parsed) return pass(parsed.error());
    return resolveContext(*parsed);
  }
  Result<ListPage> listWith(const ClientConfig& config) {
    auto client = HttpApiClient::make(loop, realClock(), config, {.perSecond = 0});
    if (!client) return pass(client.error());
    return (*client)->list(kind::kPod);
  }

  WallTime from, until;
  net::KeyPair ca;
  net::Loop loop;
  std::mutex mutex;
  net::PeerInfo peer;
  testing::FakeApi api;
};

TEST_F(HttpTlsTest, provesWhoWeAreByCertificate) {
  net::KeyPair alice = issued("alice", {"admins"});
  auto config = this->config(ca.certPem,
                             fmt::format("client-certificate-data: {}, client-key-data: {}",
                                         base64Encode(alice.certPem), base64Encode(alice.keyPem)));
  ASSERT_TRUE(config) << config.error().text();
  auto page = listWith(*config);
  ASSERT_TRUE(page) << page.error().text();
  std::lock_guard lock(mutex);
  EXPECT_TRUE(peer.verified);
  EXPECT_EQ(peer.commonName, "alice");
  EXPECT_EQ(peer.organizations, std::vector<std::string>{"admins"});
}

TEST_F(HttpTlsTest, aForeignAuthorityIsRefusedUnlessAskedFor) {
  net::KeyPair other = *net::makeCa("other", from, until);
  auto strange = *config(other.certPem, "");
  auto page = listWith(strange);
  ASSERT_FALSE(page);
  EXPECT_NE(page.error().text().find("list pods at "), std::string::npos) << page.error().text();
  EXPECT_NE(page.error().text().find("certificate"), std::string::npos) << page.error().text();
  strange.ca = {};
  strange.insecureSkipTlsVerify = true;
  EXPECT_TRUE(listWith(strange));
}

TEST_F(HttpTlsTest, theServersNameMustFit) {
  auto wrong = *config(ca.certPem, "");
  wrong.tlsServerName = "elsewhere.test";
  EXPECT_FALSE(listWith(wrong));
}

TEST_F(HttpTlsTest, brokenCertificatesAreNamedAtOnce) {
  auto broken = *config("nonsense", "");
  auto client = HttpApiClient::make(loop, realClock(), broken);
  ASSERT_FALSE(client);
  EXPECT_NE(client.error().text().find("kubeconfig inline, context 'x'"), std::string::npos)
      << client.error().text();
}

}  // namespace
}  // namespace mangrove::client
