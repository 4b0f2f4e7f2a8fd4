#include "client/http/credentials.h"

#include <filesystem>
#include <fstream>
#include <future>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/os/files.h"
#include "base/os/temp_folder.h"
#include "base/text/time_text.h"
#include "client/http/child_process.h"

namespace mangrove::client {
namespace {

using namespace std::chrono_literals;

class CredentialsTest : public ::testing::Test {
 protected:
  std::string script(const std::string& name, const std::string& body) {
    std::string path = dir + "/" + name;
    std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
    ::chmod(path.c_str(), 0755);
    return path;
  }
  static ExecSpec spec(const std::string& command) {
    ExecSpec out;
    out.apiVersion = "client.authentication.k8s.io/v1";
    out.command = command;
    return out;
  }
  static std::string credential(const std::string& status) {
    return R"(echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":)" +
           status + "}'";
  }
  static Result<Authorization> ask(Credentials& credentials) {
    std::promise<Result<Authorization>> promise;
    auto future = promise.get_future();
    credentials.authorize([&](Result<Authorization> a) { promise.set_value(std::move(a)); });
    return future.get();
  }
  static std::string header(Credentials& credentials) {
    auto got = ask(credentials);
    return got ? std::string(got->headers.get("Authorization")) : got.error().text();
  }
  TempFolder folder{"credentials"};
  const std::string& dir = folder.path();
};

TEST_F(CredentialsTest, presentsTokensPasswordsAndImpersonation) {
  VirtualClock clock;
  ClientConfig config;
  config.token = "t";
  config.impersonate = "bob";
  config.impersonateGroups = {"a", "b"};
  config.impersonateExtra = {{"acme.com/p", {"x"}}};
  Credentials token(config, clock);
  auto got = *ask(token);
  EXPECT_EQ(got.headers.get("Authorization"), "Bearer t");
  EXPECT_EQ(got.headers.get("Impersonate-User"), "bob");
  EXPECT_EQ(got.headers.count("Impersonate-Group"), 2u);
  EXPECT_EQ(got.headers.get("Impersonate-Extra-acme.com%2Fp"), "x");
  EXPECT_FALSE(token.refused(got.generation)) << "there is no other token to try";
  ClientConfig basic;
  basic.username = "u";
  basic.password = "p";
  Credentials password(basic, clock);
  EXPECT_EQ(header(password), "Basic dTpw");
}

TEST_F(CredentialsTest, readsATokenFileAgainEveryMinute) {
  VirtualClock clock;
  ClientConfig config;
  config.tokenFile = dir + "/token";
  ASSERT_TRUE(writeFileAtomically(config.tokenFile, "one\n"));
  Credentials credentials(config, clock);
  EXPECT_EQ(header(credentials), "Bearer one");
  ASSERT_TRUE(writeFileAtomically(config.tokenFile, "two\n"));
  clock.advance(59s);
  EXPECT_EQ(header(credentials), "Bearer one");
  clock.advance(1s);
  EXPECT_EQ(header(credentials), "Bearer two");
  std::filesystem::remove(config.tokenFile);
  clock.advance(1min);
  EXPECT_EQ(header(credentials), "Bearer two") << "the last good one stays";
}

TEST_F(CredentialsTest, announcesRotatedCertificates) {
  VirtualClock clock;
  ClientConfig config;
  config.ca.path = dir + "/ca";
  ASSERT_TRUE(writeFileAtomically(config.ca.path, "ca1"));
  Credentials credentials(config, clock);
  EXPECT_EQ(credentials.tls()->caPem, "ca1");
  std::string announced;
  credentials.onTlsChange([&](const net::TlsClientOptions& tls) { announced += tls.caPem + " "; });
  clock.advance(1min);
  (void)ask(credentials);
  EXPECT_EQ(announced, "");
  ASSERT_TRUE(writeFileAtomically(config.ca.path, "ca2"));
  clock.advance(1min);
  (void)ask(credentials);
  EXPECT_EQ(announced, "ca2 ");
}

TEST_F(CredentialsTest, runsAPluginOnceAndAgainBeforeItExpires) {
  VirtualClock clock(WallTime{} + 24h * 365 * 50);
  ClientConfig config;
  std::string counter = dir + "/runs";
  config.exec = spec(
      script("plugin", "echo x >> " + counter + "\n" +
                           credential(R"({"token":"'$(wc -l < )" + counter +
                                      R"()'","expirationTimestamp":"2020-01-01T01:00:00Z"})")));
  clock.stepWall(Duration(*parseTime("2020-01-01T00:00:00Z") - clock.wall()));
  Credentials credentials(config, clock);
  EXPECT_EQ(header(credentials), "Bearer 1");
  EXPECT_EQ(header(credentials), "Bearer 1");
  clock.advance(59min + 55s);  // ten seconds of margin
  EXPECT_EQ(header(credentials), "Bearer 2");
}

TEST_F(CredentialsTest, aRefusedPluginTokenIsFetchedAgain) {
  ClientConfig config;
  std::string counter = dir + "/runs";
  config.exec =
      spec(script("plugin", "echo x >> " + counter + "\n" +
                                credential(R"({"token":"'$(wc -l < )" + counter + R"()'"})")));
  Credentials credentials(config, realClock());
  auto first = *ask(credentials);
  EXPECT_TRUE(credentials.refused(first.generation));
  EXPECT_EQ(header(credentials), "Bearer 2");
  EXPECT_TRUE(credentials.refused(first.generation)) << "a newer one is there already";
  EXPECT_EQ(header(credentials), "Bearer 2");
}

TEST_F(CredentialsTest, aPluginsCertificateGoesIntoTls) {
  ClientConfig config;
  config.exec =
      spec(script("plugin", credential(R"({"clientCertificateData":"C","clientKeyData":"K"})")));
  Credentials credentials(config, realClock());
  std::string announced;
  credentials.onTlsChange(
      [&](const net::TlsClientOptions& tls) { announced = tls.certPem + tls.keyPem; });
  EXPECT_EQ(header(credentials), "");
  EXPECT_EQ(announced, "CK");
  EXPECT_EQ(credentials.tls()->certPem, "C");
}

TEST_F(CredentialsTest, thePluginSeesItsInformation) {
  ClientConfig config;
  config.server = "https://s:1";
  config.ca.data = "ca";
  config.execConfig = R"({"audience":"me"})";
  config.exec = spec(script("plugin", "printf '%s %s' \"$KUBERNETES_EXEC_INFO\" \"$EXTRA\" > " +
                                          dir + "/info\n" + credential(R"({"token":"t"})")));
  config.exec->provideClusterInfo = true;
  config.exec->env = {{"EXTRA", "more"}};
  Credentials credentials(config, realClock());
  EXPECT_EQ(header(credentials), "Bearer t");
  EXPECT_EQ(
      *readFile(dir + "/info"),
      R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"interactive":false,"cluster":{"server":"https://s:1","certificate-authority-data":"Y2E=","config":{"audience":"me"}}}} more)");
}

struct BadOutput {
  const char* body;
  const char* wanted;
};

TEST_F(CredentialsTest, saysWhatIsWrongWithAPlugin) {
  const BadOutput cases[] = {
      {"echo nonsense", "its output"},
      {R"(echo '{"kind":"Pod"}')", "kind is 'Pod', want 'ExecCredential'"},
      {R"(echo '{"kind":"ExecCredential","apiVersion":"v9"}')", "apiVersion is 'v9'"},
      {R"(echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1"}')",
       "'status' is missing"},
      {"exit 3", "exit code 3. Install me"},
      {"echo please log in >&2; exit 1", "exit code 1: please log in"},
      {"kill -9 $$", "exit code 137"},
  };
  int number = 0;
  for (const auto& one : cases) {
    ExecSpec broken = spec(script("bad" + std::to_string(number++), one.body));
    broken.installHint = "Install me";
    auto got = runExecPlugin(broken, "{}", realClock());
    ASSERT_FALSE(got) << one.body;
    EXPECT_NE(got.error().text().find(one.wanted), std::string::npos) << got.error().text();
    EXPECT_NE(got.error().text().find("exec plugin '" + broken.command + "'"), std::string::npos);
  }
  for (const char* status : {R"({"token":""})", R"({"clientCertificateData":"c"})",
                             R"({"token":"t","expirationTimestamp":"soon"})"})
    EXPECT_FALSE(runExecPlugin(spec(script("half", credential(status))), "{}", realClock()))
        << status;
  ExecSpec absent = spec(dir + "/absent");
  absent.installHint = "Get it from example.com";
  auto got = runExecPlugin(absent, "{}", realClock());
  EXPECT_NE(got.error().text().find("Get it from example.com"), std::string::npos)
      << got.error().text();
}

TEST_F(CredentialsTest, aPluginThatHangsOrFloodsIsEnded) {
  auto hung = runExecPlugin(spec(script("hang", "sleep 1000 & sleep 1000")), "{}", realClock(),
                            {.timeout = 200ms});
  EXPECT_EQ(hung.error().code(), Code::kTimeout) << hung.error().text();
  auto flood = runExecPlugin(spec(script("flood", "yes")), "{}", realClock(), {.maxOutput = 10000});
  EXPECT_EQ(flood.error().code(), Code::kTooLarge) << flood.error().text();
}

TEST_F(CredentialsTest, goingAwayEndsARunningPlugin) {
  ClientConfig config;
  config.exec = spec(script("hang", "sleep 1000"));
  std::promise<Code> code;
  {
    Credentials credentials(config, realClock());
    credentials.authorize([&](Result<Authorization> a) { code.set_value(a.error().code()); });
  }
  EXPECT_EQ(code.get_future().get(), Code::kCancelled);
}

TEST_F(CredentialsTest, aChildThatLeavesAGrandchildBehindDoesNotHoldUs) {
  ChildSpec child;
  child.command = script("leave", "(sleep 3 &) ; echo done");
  child.timeout = 30s;
  auto ran = runChild(child, realClock());
  ASSERT_TRUE(ran) << ran.error().text();
  EXPECT_EQ(ran->out, "done\n");
}

}  // namespace
}  // namespace mangrove::client
