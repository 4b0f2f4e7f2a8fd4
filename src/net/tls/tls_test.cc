#include "net/tls/tls.h"

#include "base/os/log.h"
#include "net/test_support.h"

namespace mangrove::net::testing {
namespace {

// Tells who asked.
void whoami(std::shared_ptr<Exchange> exchange) {
  const PeerInfo& peer = exchange->request().peer;
  std::string groups;
  for (const auto& group : peer.organizations) groups += group + ";";
  exchange->reply(
      HttpResponse::text(200, fmt::format("{} {} '{}' {}{}", peer.tls, peer.verified,
                                          peer.commonName, groups, peer.resumed ? " again" : "")));
}

std::unique_ptr<HttpServer> secure(Loop& loop, TlsServerOptions tls) {
  ServerOptions options;
  options.tls = std::move(tls);
  return serve(loop, options, whoami);
}

ClientOptions trusting(const HttpServer& server, const std::string& caPem) {
  ClientOptions options = to(server);
  options.tls.caPem = caPem;
  return options;
}

TEST(Tls, VerifiesTheServer) {
  Keys keys;
  Keys others("other-ca");
  WallTime now = realClock().wall();
  auto issued = [&](std::vector<std::string> ips, WallTime from, WallTime until) {
    return *issue(keys.ca, {"s", {}, {"names.example"}, std::move(ips), from, until, false});
  };
  KeyPair good = issued({"127.0.0.1"}, now - 1h, now + 1h);
  KeyPair expired = issued({"127.0.0.1"}, now - 2h, now - 1h);
  KeyPair early = issued({"127.0.0.1"}, now + 1h, now + 2h);
  KeyPair elsewhere = issued({"10.9.8.7"}, now - 1h, now + 1h);
  struct Row {
    const char* what;
    const KeyPair& pair;
    std::string ca;
    std::string serverName;
    bool insecure;
    const char* error;  // "" is success
  };
  const Row rows[] = {
      {"good", good, keys.ca.certPem, "", false, ""},
      {"one of several CAs", good, others.ca.certPem + keys.ca.certPem, "", false, ""},
      {"by name", good, keys.ca.certPem, "names.example", false, ""},
      {"expired", expired, keys.ca.certPem, "", false,
       "is not valid now (certificate has expired)"},
      {"early", early, keys.ca.certPem, "", false, "is not valid now"},
      {"wrong address", elsewhere, keys.ca.certPem, "", false,
       "is for DNS:names.example, IP:10.9.8.7, not for '127.0.0.1'"},
      {"wrong name", good, keys.ca.certPem, "other.example", false, "not for 'other.example'"},
      {"wrong CA", good, others.ca.certPem, "", false, "is not signed by the given CA"},
      {"system CAs", good, "", "", false, "is not signed by the given CA"},
      {"not verified", expired, "", "whatever", true, ""},
  };
  Loop loop(2);
  for (const Row& row : rows) {
    auto server = secure(loop, tlsOf(row.pair));
    ClientOptions options = trusting(*server, row.ca);
    options.tls.serverName = row.serverName;
    options.tls.insecureSkipVerify = row.insecure;
    auto answer = connect(loop, options)->call({"POST", "/", {}, "", {}});
    ASSERT_EQ(answer.has_value(), *row.error == '\0')
        << row.what << ": " << (answer ? "succeeded" : answer.error().text());
    if (answer) continue;
    EXPECT_EQ(answer.error().code(), Code::kDenied) << row.what;
    EXPECT_FALSE(mayHaveBeenSent(answer.error())) << row.what;
    EXPECT_NE(answer.error().text().find(row.error), std::string::npos) << answer.error().text();
    std::string who = fmt::format("certificate of 127.0.0.1:{} ", server->port());
    EXPECT_NE(answer.error().text().find(who), std::string::npos) << answer.error().text();
  }
}

TEST(Tls, KnowsClientsByTheirCertificates) {
  Keys keys;
  Keys others("other-ca");
  KeyPair alice = keys.client("alice", {"dev", "ops"});
  KeyPair mallory = others.client("mallory", {"system:masters"});
  struct Row {
    const char* what;
    ClientCertificates mode;
    const KeyPair* pair;
    const char* answer;  // null: refused
  };
  const Row rows[] = {
      {"not asked", ClientCertificates::kNone, &alice, "true false '' "},
      {"asked and given", ClientCertificates::kRequest, &alice, "true true 'alice' dev;ops;"},
      {"asked, none", ClientCertificates::kRequest, nullptr, "true false '' "},
      {"asked, unknown", ClientCertificates::kRequest, &mallory, "true false '' "},
      {"required and given", ClientCertificates::kRequire, &alice, "true true 'alice' dev;ops;"},
      {"required, none", ClientCertificates::kRequire, nullptr, nullptr},
      {"required, unknown", ClientCertificates::kRequire, &mallory, nullptr},
  };
  Loop loop(2);
  for (const Row& row : rows) {
    KeyPair pair = keys.local();
    auto server =
        secure(loop, {pair.certPem, pair.keyPem,
                      row.mode == ClientCertificates::kNone ? "" : keys.ca.certPem, row.mode});
    ClientOptions options = trusting(*server, keys.ca.certPem);
    if (row.pair) options.tls.certPem = row.pair->certPem, options.tls.keyPem = row.pair->keyPem;
    auto client = connect(loop, options);
    auto answer = client->call({"POST", "/", {}, "", {}});
    ASSERT_EQ(answer.has_value(), row.answer != nullptr)
        << row.what << (answer ? answer->body : answer.error().text());
    if (answer) {
      EXPECT_EQ(answer->body, row.answer) << row.what;
      continue;
    }
    EXPECT_EQ(answer.error().code(), Code::kDenied) << answer.error().text();
    EXPECT_FALSE(mayHaveBeenSent(answer.error()));
    EXPECT_NE(answer.error().text().find("refuses our client certificate"), std::string::npos)
        << answer.error().text();
    EXPECT_EQ(server->stats().requests, 0u);
  }
}

TEST(Tls, ResumedSessionsKnowTheirClients) {
  Keys keys;
  KeyPair pair = keys.local();
  Loop loop;
  auto server =
      secure(loop, {pair.certPem, pair.keyPem, keys.ca.certPem, ClientCertificates::kRequire});
  ClientOptions options = trusting(*server, keys.ca.certPem);
  KeyPair alice = keys.client("alice", {"dev"});
  options.tls.certPem = alice.certPem;
  options.tls.keyPem = alice.keyPem;
  auto client = connect(loop, options);
  for (int i = 0; i < 3; ++i) {
    auto answer = client->call({"GET", "/", {{"Connection", "close"}}, "", {}});
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_EQ(answer->body, i == 0 ? "true true 'alice' dev;" : "true true 'alice' dev; again");
  }
  EXPECT_EQ(server->stats().accepted, 3u);
}

TEST(Tls, CarriesLargeBodiesAndStreams) {
  Keys keys;
  Loop loop(2);
  ServerOptions serverOptions;
  serverOptions.tls = tlsOf(keys.local());
  serverOptions.maxBody = kMiB * 16;
  serverOptions.maxQueued = kMiB * 64;
  auto server = serve(loop, serverOptions, [](std::shared_ptr<Exchange> exchange) {
    auto stream = exchange->stream({});
    for (int i = 0; i < 4; ++i) stream->write(exchange->request().body);
  });
  auto client = connect(loop, trusting(*server, keys.ca.certPem));
  std::string body(5 << 20, 'y');
  auto answer = client->call({"POST", "/", {}, body, {}});
  ASSERT_TRUE(answer) << answer.error().text();
  EXPECT_TRUE(answer->body == body + body + body + body);
}

TEST(Tls, ReloadsCertificatesWhileRunning) {
  Keys keys;
  Keys others("new-ca");
  Loop loop;
  auto server = secure(loop, tlsOf(keys.local()));
  auto client = connect(loop, trusting(*server, keys.ca.certPem));
  ASSERT_TRUE(client->call({}));
  EXPECT_FALSE(server->setTls({"rubbish", "rubbish", "", ClientCertificates::kNone}));
  ASSERT_TRUE(server->setTls(tlsOf(others.local())));
  EXPECT_TRUE(client->call({})) << "open connections keep their certificate";
  TlsClientOptions renewed;
  renewed.caPem = others.ca.certPem;
  ASSERT_TRUE(client->setTls(renewed));
  auto answer = client->call({});
  ASSERT_TRUE(answer) << answer.error().text();
  EXPECT_EQ(server->stats().accepted, 2u);
  auto old = connect(loop, trusting(*server, keys.ca.certPem))->call({});
  EXPECT_FALSE(old);
}

TEST(Tls, ExplainsAPlainPeer) {
  Keys keys;
  Loop loop;
  auto plain = serve(loop, {}, whoami);
  ClientOptions options = trusting(*plain, keys.ca.certPem);
  options.base.scheme = Url::Scheme::kHttps;
  auto answer = connect(loop, options)->call({});
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().text().find("TLS handshake with 127.0.0.1"), std::string::npos)
      << answer.error().text();
  EXPECT_FALSE(mayHaveBeenSent(answer.error()));
  auto server = secure(loop, tlsOf(keys.local()));
  auto socket = RawSocket::to(server->port());
  socket.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(socket.receiveAll().find("200 OK"), std::string::npos);
}

TEST(Tls, HandshakesHaveTheirTime) {
  Keys keys;
  Loop loop;
  ServerOptions serverOptions;
  serverOptions.tls = tlsOf(keys.local());
  serverOptions.readHeaderTimeout = 50ms;
  auto server = serve(loop, serverOptions, whoami);
  auto mute = RawSocket::to(server->port());
  EXPECT_EQ(mute.receiveAll(), "");
  RawServer silent([](RawSocket& socket, int) { socket.receiveAll(); });
  ClientOptions options;
  options.base = silent.url();
  options.base.scheme = Url::Scheme::kHttps;
  options.tls.caPem = keys.ca.certPem;
  options.connectTimeout = 50ms;
  auto answer = connect(loop, options)->call({"POST", "/", {}, "", {}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), Code::kTimeout);
  EXPECT_FALSE(mayHaveBeenSent(answer.error()));
}

}  // namespace
}  // namespace mangrove::net::testing
