// Credentials change under a server that runs: what was removed is made anew, what was replaced is
// taken over, and clients that follow notice nothing.
#include "apiserver/serving.h"

#include <filesystem>
#include <future>

#include <gtest/gtest.h>

#include "apiserver/auth/signing_key.h"
#include "apiserver/backup.h"
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
  using Asked = std::future<Result<net::HttpResponse>>;
  Asked begin(std::string target, std::string caPem, std::string bearer) {
    return std::async(std::launch::async, [=, this, port = serving_->port()] {
      net::ClientOptions options;
      options.base = *net::Url::parse(fmt::format("https://127.0.0.1:{}", port));
      options.tls.caPem = caPem;
      auto client = net::HttpClient::create(io_, options);
      return (*client)->call({"GET", target, {{"Authorization", "Bearer " + bearer}}, "", {}});
    });
  }
  Result<net::HttpResponse> await(Asked asked) {
    while (asked.wait_for(Duration::zero()) != std::future_status::ready)
      owner_.runOne(std::chrono::milliseconds(10));
    return asked.get();
  }
  // The status of a request by somebody who trusts this authority; 0 when there is no connection.
  int ask(const std::string& caPem, const std::string& bearer) {
    auto answer = await(begin("/api/v1/namespaces", caPem, bearer));
    return answer ? answer->status : 0;
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

TEST_F(ServingTest, AnAuthorityThatMakesNoSenseChangesNothingAndIsAskedForAgain) {
  const std::string before = text("ca.pem"), trusted = authority(), config = text("kubeconfig");
  ASSERT_TRUE(
      writeFileAtomically(dir() + "/ca.pem", before + "-----BEGIN CERTIFICATE-----\nx\n", {}));
  for (int looks = 0; looks < 2; ++looks) {
    serving_->look();
    EXPECT_EQ(ask(trusted, token()), 200);
    EXPECT_EQ(text("kubeconfig"), config);
  }
  ASSERT_TRUE(writeFileAtomically(dir() + "/ca.pem", before, {}));
  drop("tokens.csv");
  serving_->look();
  EXPECT_EQ(ask(trusted, token()), 200) << "a good one is taken over again";
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

TEST_F(ServingTest, BackupsAtOnceAreAllWhole) {
  std::vector<Asked> asked;
  for (int i = 0; i < 3; ++i) asked.push_back(begin("/backup", authority(), token()));
  for (size_t i = 0; i < asked.size(); ++i) {
    auto answer = await(std::move(asked[i]));
    ASSERT_TRUE(answer && answer->status == 200) << i;
    EXPECT_TRUE(answer->headers.get("ETag").ends_with(fmt::format("/{}\"", answer->body.size())));
    const std::string file = folder_.file("copy"), back = folder_.file(fmt::format("back{}", i));
    ASSERT_TRUE(writeFileAtomically(file, answer->body, {.mode = 0644}));
    ASSERT_TRUE(restoreServer(file, back));
    EXPECT_EQ(readFile(back + "/tokens.csv").value_or(""), text("tokens.csv"));
    const auto mode = std::filesystem::status(back + "/store.db").permissions();
    EXPECT_EQ(mode, std::filesystem::perms(0600)) << "whatever the backup's was";
  }
  for (const auto& entry : std::filesystem::directory_iterator(dir()))
    EXPECT_FALSE(entry.path().filename().string().starts_with("backup")) << entry.path();
}

}  // namespace
}  // namespace mangrove::apiserver
