// The kubelet as a source of pods, against a stand-in that listens with TLS and has a kubelet's
// habits: a certificate it signed itself, tokens, an empty list after it started, odd
// configurations.
#include <atomic>
#include <mutex>

#include <gtest/gtest.h>

#include "agent/report/kubelet_process.h"
#include "agent/report/kubelet_source.h"
#include "api/wire/decode.h"
#include "base/os/files.h"
#include "json/view.h"
#include "kernel/testing/fake_root.h"
#include "net/server/http_server.h"
#include "net/tls/tls_keys.h"

namespace mangrove::agent {
namespace {

using namespace std::chrono_literals;

std::string podItem(const std::string& name, const std::string& extra = "") {
  return fmt::format(
      R"({{"metadata":{{"name":"{}","namespace":"d","uid":"u-{}"{}}},"spec":{{"containers":[{{"name":"c"}}]}}}})",
      name, name, extra);
}

std::string podList(const std::vector<std::string>& items) {
  std::string all;
  for (const std::string& item : items) all += (all.empty() ? "" : ",") + item;
  return R"({"kind":"PodList","apiVersion":"v1","metadata":{},"items":[)" + all + "]}";
}

// Answers what it was told to, and remembers what it was asked.
class Kubelet {
 public:
  Kubelet() {
    const WallTime now = realClock().wall();
    auto ca = net::makeCa("kubelet-ca", now - 1h, now + 1h);
    net::CertificateInfo info;
    info.commonName = "node";
    info.dnsNames = {"somebody-else"};
    info.ipAddresses = {"127.0.0.1"};
    authority = ca->certPem;
    info.notBefore = now - 1h;
    info.notAfter = now + 1h;
    auto leaf = net::issue(*ca, info);
    net::ServerOptions options;
    options.tls.emplace();
    options.tls->certPem = leaf->certPem;
    options.tls->keyPem = leaf->keyPem;
    auto server = net::HttpServer::listen(loop, options, [this](std::shared_ptr<net::Exchange> x) {
      std::lock_guard lock(mutex);
      ++requests;
      lastTarget = x->request().target;
      lastToken = std::string(x->request().headers.get("Authorization"));
      if (silent) return void(kept.push_back(std::move(x)));
      if (!token.empty() && lastToken != "Bearer " + token)
        return x->reply(net::HttpResponse::text(401, "Unauthorized"));
      x->reply(net::HttpResponse::json(200, lastTarget == "/configz" ? config : pods));
    });
    EXPECT_TRUE(server) << server.error().text();
    http = *std::move(server);
  }
  ~Kubelet() { kept.clear(); }

  api::Node node() const {
    json::Doc doc;
    auto view = doc.parse(fmt::format(
        R"({{"metadata":{{"name":"n1"}},"status":{{"addresses":[{{"type":"InternalIP","address":"127.0.0.1"}}],)"
        R"("daemonEndpoints":{{"kubeletEndpoint":{{"Port":{}}}}}}}}})",
        http->port()));
    return *api::decode<api::Node>(*view);
  }
  template <class F>
  auto locked(F f) {
    std::lock_guard lock(mutex);
    return f();
  }

  net::Loop loop;
  std::mutex mutex;
  std::string token, pods = podList({}), config = "{}";
  std::string lastTarget, lastToken, authority;
  bool silent = false;
  int requests = 0;
  std::vector<std::shared_ptr<net::Exchange>> kept;
  std::unique_ptr<net::HttpServer> http;
};

class KubeletTest : public ::testing::Test {
 protected:
  void make(KubeletSourceOptions options) {
    options.pods = true;
    source.emplace(&kubelet.loop, owner, book, &metrics, options);
  }
  // One tick, and then whatever it asked is answered.
  void tick(Duration after = 10s, size_t newPods = 0) {
    const int before = kubelet.locked([&] { return kubelet.requests; });
    now += after;
    const api::Node node = kubelet.node();
    source->tick(now, &node, newPods);
    while (source->asking() && owner.runOne(30s)) {
    }
    asked = kubelet.locked([&] { return kubelet.requests; }) - before;
  }

  Kubelet kubelet;
  Mailbox owner;
  PodBook book;
  Registry metrics;
  std::optional<KubeletSource> source;
  MonoTime now{100s};
  int asked = 0;
};

TEST_F(KubeletTest, PodsComeOverTlsWithAToken) {
  kubelet.token = "secret";
  kubelet.pods = podList({podItem("a"), podItem("b")});
  make({.kubelet = {.token = "secret"}, .config = false});
  tick();
  EXPECT_EQ(book.size(), 2u);
  EXPECT_TRUE(source->synced());
  EXPECT_EQ(kubelet.lastTarget, "/pods/");
  EXPECT_NE(
      metrics.exposition().find(
          R"(koordlet_kubelet_request_duration_seconds_count{verb="get",path="/pods/",code="200"} 1)"),
      std::string::npos);
}

TEST_F(KubeletTest, WhereAnAuthorityIsGivenNobodyElsesCertificateIsTaken) {
  kubelet.pods = podList({podItem("a")});
  const WallTime wall = realClock().wall();
  const auto other = net::makeCa("other", wall - 1h, wall + 1h);
  const std::string file = ::testing::TempDir() + "/kubelet-authority.pem";
  ASSERT_TRUE(writeFileAtomically(file, other->certPem));
  make({.kubelet = {.caFile = file}, .config = false});
  tick();
  EXPECT_FALSE(source->synced());
  EXPECT_EQ(kubelet.locked([&] { return kubelet.requests; }), 0);
  ASSERT_TRUE(writeFileAtomically(file, kubelet.authority));
  make({.kubelet = {.caFile = file}, .config = false});
  tick();
  EXPECT_EQ(book.size(), 1u);
}

TEST_F(KubeletTest, AnErrorOrAnEmptyListKeepsWhatWasKnown) {
  make({.kubelet = {.token = "secret"}, .config = false});
  tick();
  EXPECT_FALSE(source->synced()) << "a kubelet that just started names no pods";
  EXPECT_EQ(source->stats().empty, 1u);
  kubelet.locked([&] { kubelet.pods = podList({podItem("a")}); });
  tick();
  EXPECT_EQ(book.size(), 1u);
  for (const char* body : {"<html>", R"({"items":null})", R"({"items":[{"metadata":7}]})", ""}) {
    kubelet.locked([&] { kubelet.pods = body; });
    tick();
    EXPECT_EQ(book.size(), 1u) << body;
  }
  kubelet.locked([&] { kubelet.token = "changed"; });
  tick();
  EXPECT_EQ(book.size(), 1u) << "401";
  EXPECT_GE(source->stats().failures, 3u);
}

TEST_F(KubeletTest, NewPodsMakeItAskAtOnceButNotForEver) {
  kubelet.pods = podList({podItem("a")});
  make({.config = false});
  tick();
  EXPECT_EQ(asked, 1);
  tick(1s);
  EXPECT_EQ(asked, 0) << "nothing is due";
  kubelet.locked([&] { kubelet.pods = podList({podItem("a"), podItem("b")}); });
  tick(1s, 1);
  EXPECT_EQ(asked, 1) << "a new pod's cgroup appeared";
  EXPECT_EQ(book.size(), 2u);
  int sum = 0;
  for (int i = 0; i < 45; ++i) {
    tick(10ms, 1);
    sum += asked;
  }
  EXPECT_LE(sum, 13) << "ten at once, then five a second";
  tick(1s);
  EXPECT_EQ(asked, 1) << "the last one was not forgotten";
}

TEST_F(KubeletTest, ASilentKubeletIsNotWaitedForAndNotAskedTwice) {
  kubelet.pods = podList({podItem("a")});
  make({.kubelet = {.timeout = 200ms}, .config = false});
  kubelet.locked([&] { kubelet.silent = true; });
  tick();
  EXPECT_EQ(source->stats().failures, 1u);
  kubelet.locked([&] {
    kubelet.silent = false;
    kubelet.kept.clear();
  });
  tick();
  EXPECT_EQ(book.size(), 1u);
}

TEST_F(KubeletTest, LargeListsAndStaticPods) {
  std::vector<std::string> items = {podItem(
      "static",
      R"(,"annotations":{"kubernetes.io/config.mirror":"h1","kubernetes.io/config.hash":"h1"})")};
  const std::string padding(10'000, 'x');
  for (int i = 0; i < 250; ++i)
    items.push_back(
        podItem(fmt::format("p{}", i), R"(,"annotations":{"note":")" + padding + R"("})"));
  kubelet.pods = podList(items);
  make({.config = false});
  tick();
  EXPECT_EQ(book.size(), 251u);
  EXPECT_TRUE(book.findByCgroup("h1"));
}

TEST_F(KubeletTest, ConfigurationWithWhatNewerKubeletsSay) {
  kubelet.pods = podList({podItem("a")});
  kubelet.config =
      R"({"kubeletconfig":{"cpuManagerPolicy":"static","topologyManagerPolicy":"restricted",)"
      R"("topologyManagerScope":"pod","kubeReserved":{"cpu":"500m"},"logging":{"format":"text",)"
      R"("flushFrequency":{"Duration":"5s","SerializeAsString":true},"options":{"json":{"infoBufferSize":"0"}}}}})";
  make({.config = true});
  tick();
  ASSERT_TRUE(source->config());
  EXPECT_EQ(source->config()->cpuManagerPolicy, "static");
  kubelet.locked([&] { kubelet.config = "<html>"; });
  tick(61min);
  ASSERT_TRUE(source->config()) << "the last good one stays";
  kubelet.locked([&] { kubelet.config = R"({"kubeletconfig":{"cpuManagerPolicy":"none"}})"; });
  tick(2min);
  tick(1s);
  EXPECT_EQ(source->config()->cpuManagerPolicy, "none");
  kubelet.locked([&] { kubelet.config = R"({"kubeletconfig":{"cpuManagerPolicy":"static"}})"; });
  tick(1s);
  EXPECT_EQ(source->config()->cpuManagerPolicy, "none") << "not before an hour";
  source->askAgain();
  tick(1s);
  EXPECT_EQ(source->config()->cpuManagerPolicy, "static") << "it was restarted";
}

TEST(KubeletProcess, TellsOneStartFromTheNext) {
  kernel::FakeRoot fs;
  const auto runs = [&](const char* pid, const char* program, const char* start) {
    const std::string dir = std::string("proc/") + pid;
    fs.write(dir + "/cmdline", std::string(program) + std::string("\0--config=/x\0", 13));
    fs.write(
        dir + "/stat",
        fmt::format("{} (kube) let) S 1 1 1 0 -1 4 0 0 0 0 1 2 3 4 20 0 9 0 {} 1\n", pid, start));
  };
  const kernel::Mounts mounts;
  KubeletProcess kubelet;
  EXPECT_FALSE(kubelet.restarted(fs.root(), mounts)) << "there is none";
  runs("7", "/usr/bin/kubelet", "100");
  runs("8", "/usr/bin/kube-proxy", "50");
  EXPECT_EQ(kubeletDirs(fs.root(), mounts), std::vector<std::string>{"proc/7"});
  EXPECT_FALSE(kubelet.restarted(fs.root(), mounts)) << "the first one that was seen";
  EXPECT_FALSE(kubelet.restarted(fs.root(), mounts));
  fs.remove("proc/7");
  EXPECT_FALSE(kubelet.restarted(fs.root(), mounts)) << "gone";
  runs("9", "kubelet", "900");
  EXPECT_TRUE(kubelet.restarted(fs.root(), mounts));
  EXPECT_FALSE(kubelet.restarted(fs.root(), mounts));
  runs("9", "kubelet", "950");
  EXPECT_TRUE(kubelet.restarted(fs.root(), mounts)) << "the same number again";
}

}  // namespace
}  // namespace mangrove::agent
