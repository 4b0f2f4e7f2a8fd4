// Credentials change under a server that runs: what was removed is made anew, what was replaced is
// taken over, and clients that follow notice nothing.
#include "apiserver/serving.h"

#include <filesystem>
#include <future>

#include <gtest/gtest.h>

#include "apiserver/auth/signing_key.h"
#include "base/os/files.h"
#include "base/os/temp_folder.h"
#include "base/text/strings.h"
#include "frame/health.h"
#include "net/client/http_client.h"
#include "net/tls/tls_keys.h"

namespace mangrove::apiserver {
namespace {

using std::chrono::hours;

class ServingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto serving = Serving::start(context_, {}, {.dataDir = dir(), .bind = "127.0.0.1", .port = 0});
    ASSERT_TRUE(serving) << serving.error().text();
    serving_ = std::move(*serving);
  }
  void TearDown() override {
    serving_->stopListening(Duration::zero());
    serving_->embedded().close();
    owner_.drain();
  }
  std::string dir() const { return folder_.file("data"); }
  std::string text(const std::string& name) const { return *readFile(dir() + "/" + name); }
  void drop(const std::string& name) { std::filesystem::remove(dir() + "/" + name); }
  std::string token() const { return std::string(cut(text("tokens.csv"), ',').before); }
  std::string authority() const {
    const std::string all = text("ca.pem");
    return all.substr(0, all.find("-----BEGIN PRIVATE KEY-----"));
  }
  // The status of a request by somebody who trusts this authority; 0 when there is no connection.
  int ask(const std::string& caPem, const std::string& bearer) {
    auto asked = std::async(std::launch::async, [&, port = serving_->port()] {
      net::ClientOptions options;
      options.base = *net::Url::parse(fmt::format("https://127.0.0.1:{}", port));
      options.tls.caPem = caPem;
      auto client = net::HttpClient::create(io_, options);
      auto answer = (*client)->call(
          {"GET", "/api/v1/namespaces", {{"Authorization", "Bearer " + bearer}}, "", {}});
      return answer ? answer->status : 0;
    });
    while (asked.wait_for(Duration::zero()) != std::future_status::ready)
      owner_.runOne(std::chrono::milliseconds(10));
    return asked.get();
  }

  TempFolder folder_ = TempFolder::inMemory("serving-test");
  VirtualClock clock_{realClock().wall()};
  Mailbox owner_;
  net::Loop io_{1};
  Registry metrics_;
  frame::Health health_;
  FeatureGates gates_{{}};
  frame::RoleContext context_{clock_, owner_, io_, metrics_, health_, gates_, nullptr, {}};
  std::unique_ptr<Serving> serving_;
};

TEST_F(ServingTest, ATokenThatIsRemovedEndsAndAnotherIsMade) {
  const std::string before = token();
  EXPECT_EQ(ask(authority(), before), 200);
  drop("tokens.csv");
  serving_->look();
  EXPECT_NE(token(), before);
  EXPECT_EQ(ask(authority(), before), 401);
  EXPECT_EQ(ask(authority(), token()), 200);
  EXPECT_NE(text("kubeconfig").find(token()), std::string::npos) << "the kubeconfig follows";
}

TEST_F(ServingTest, ATokenFileThatMakesNoSenseChangesNothing) {
  const std::string before = token();
  ASSERT_TRUE(writeFileAtomically(dir() + "/tokens.csv", before + "\n", {}));
  serving_->look();
  EXPECT_EQ(ask(authority(), before), 200);
}

TEST_F(ServingTest, ANewAuthorityStandsBeforeTheOldOne) {
  const std::string before = authority();
  drop("ca.pem");
  serving_->look();
  const std::string now = authority();
  EXPECT_NE(now, before);
  EXPECT_NE(text("ca.pem").find(before), std::string::npos) << "its certificates still count";
  EXPECT_TRUE(*net::isSignedBy(text("serving.pem"), now));
  EXPECT_EQ(ask(now, token()), 200);
  EXPECT_EQ(ask(before, token()), 0) << "who trusts the old one alone needs the new kubeconfig";
  serving_->look();
  EXPECT_EQ(authority(), now) << "once";
}

TEST_F(ServingTest, TheCertificateIsRenewedBeforeItEndsAndIsForServersOnly) {
  const auto info = [&] { return *net::readCertificate(text("serving.pem")); };
  EXPECT_TRUE(info().serverOnly);
  const WallTime ends = info().notAfter;
  clock_.advance(hours(24 * 300));
  serving_->look();
  EXPECT_EQ(info().notAfter, ends) << "not yet";
  clock_.advance(hours(24 * 40));
  serving_->look();
  EXPECT_GT(info().notAfter, ends);
}

TEST_F(ServingTest, AnotherAddressJoinsTheCertificate) {
  ASSERT_TRUE(serving_->listenAlso("127.0.0.2"));
  const auto info = net::readCertificate(text("serving.pem"));
  EXPECT_NE(std::find(info->ipAddresses.begin(), info->ipAddresses.end(), "127.0.0.2"),
            info->ipAddresses.end());
  EXPECT_EQ(ask(authority(), token()), 200);
}

TEST_F(ServingTest, ASigningKeyThatIsRemovedIsMadeAnew) {
  const std::string before = text("service-account.key");
  drop("service-account.key");
  serving_->look();
  EXPECT_NE(text("service-account.key"), before);
}

}  // namespace
}  // namespace mangrove::apiserver
