#include "apiserver/auth/authenticator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/auth/auth_test_support.h"
#include "base/text/strings.h"

namespace mangrove::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class AuthenticatorTest : public ::testing::Test {
 protected:
  AuthenticatorTest() {
    world_.put(
        R"({"apiVersion":"v1","kind":"ServiceAccount",
                   "metadata":{"name":"robot","namespace":"prod"}})",
        "sa-1");
    world_.rbac.put("clusterroles", "", "puppeteer", object(R"({"rules":[
        {"verbs":["impersonate"],"apiGroups":[""],"resources":["users"],"resourceNames":["bob"]},
        {"verbs":["impersonate"],"apiGroups":[""],"resources":["groups"],"resourceNames":["devs"]},
        {"verbs":["impersonate"],"apiGroups":[""],"resources":["serviceaccounts"]},
        {"verbs":["impersonate"],"apiGroups":["authentication.k8s.io"],
         "resources":["userextras/team"]},
        {"verbs":["impersonate"],"apiGroups":["authentication.k8s.io"],"resources":["uids"],
         "resourceNames":["7"]}]})"));
    world_.rbac.put("clusterrolebindings", "", "ann",
                    object(R"({"roleRef":{"kind":"ClusterRole","name":"puppeteer"},
                               "subjects":[{"kind":"User","name":"ann"}]})"));
  }
  std::string accountToken() {
    TokenClaims claims;
    claims.ns = "prod";
    claims.account = {"robot", "sa-1"};
    claims.issuedAt = world_.clock.wall();
    claims.expiresAt = claims.issuedAt + std::chrono::hours(1);
    return *accounts_.issue(claims);
  }
  // "user[group group]" or the status of the refusal.
  std::string who(const net::PeerInfo& peer, const net::Headers& headers,
                  std::string_view target = "/api/v1/pods", std::string_view method = "GET") {
    auto identity = authenticator_.authenticate(peer, headers, *parseRequest(method, target));
    if (!identity) return std::to_string(identity.error().status);
    return identity->user + "[" + join(identity->groups, " ") + "]";
  }
  World world_;
  ServiceAccountTokens accounts_{*SigningKey::fromPem(*SigningKey::makePem()),
                                 {.issuer = "https://me"},
                                 world_.clock,
                                 *world_.store};
  Authenticator authenticator_{*StaticTokens::parse("abc,ann,1,devs\nroot,root,2,system:masters"),
                               &accounts_, world_.rbac};
};

TEST_F(AuthenticatorTest, KnowsTokensAndNothingElse) {
  struct Row {
    const char *header, *want;
  };
  const Row kRows[] = {
      {"Bearer abc", "ann[devs system:authenticated]"},
      {"bearer  abc ", "ann[devs system:authenticated]"},
      {"Bearer root", "root[system:masters system:authenticated]"},
      {"Bearer ab", "401"},
      {"Bearer ABC", "401"},
      {"Bearer", "401"},
      {"Bearer ", "401"},
      {"Bearer abc abc", "401"},
      {"abc", "401"},
      {"Basic YWJjOmFiYw==", "401"},
      {"Bearer a.b.c", "401"},
      {"", "401"},
  };
  for (const Row& row : kRows)
    EXPECT_EQ(who({}, {{"Authorization", row.header}}), row.want) << row.header;
  EXPECT_EQ(who({}, {{"Authorization", "Bearer abc"}, {"authorization", "Bearer root"}}), "401");
  EXPECT_EQ(who({}, {{"Authorization", "Bearer " + accountToken()}}),
            "system:serviceaccount:prod:robot[system:serviceaccounts system:serviceaccounts:prod "
            "system:authenticated]");
}

TEST_F(AuthenticatorTest, TakesVerifiedCertificatesOnly) {
  net::PeerInfo peer;
  peer.commonName = "zoe";
  peer.organizations = {"ops", "devs"};
  EXPECT_EQ(who(peer, {}), "401");
  peer.verified = true;
  EXPECT_EQ(who(peer, {}), "zoe[ops devs system:authenticated]");
  EXPECT_EQ(who(peer, {{"Authorization", "Bearer abc"}}), "zoe[ops devs system:authenticated]");
  peer.commonName = "";
  EXPECT_EQ(who(peer, {}), "401");
}

TEST_F(AuthenticatorTest, StrangersSeeHealthAndVersionOnly) {
  const std::string kStranger = "system:anonymous[system:unauthenticated]";
  for (const char* path :
       {"/healthz", "/livez", "/readyz", "/livez/ping", "/readyz?verbose", "/version", "/healthz/"})
    EXPECT_EQ(who({}, {}, path), kStranger) << path;
  for (const char* path :
       {"/", "/api", "/apis", "/metrics", "/openapi/v3", "/healthzz", "/version/x", "/api/v1/nodes",
        "/api/v1/namespaces/healthz/pods", "/openid/v1/jwks"})
    EXPECT_EQ(who({}, {}, path), "401") << path;
  EXPECT_EQ(who({}, {}, "/healthz", "POST"), "401");
  EXPECT_EQ(who({}, {{"Authorization", "Bearer wrong"}}, "/healthz"), "401");
}

TEST_F(AuthenticatorTest, ImpersonatesWhatIsPermitted) {
  struct Row {
    net::Headers headers;
    const char* want;
  };
  const Row kRows[] = {
      {{{"Impersonate-User", "bob"}}, "bob[system:authenticated]"},
      {{{"impersonate-user", "bob"}, {"Impersonate-Group", "devs"}},
       "bob[devs system:authenticated]"},
      {{{"Impersonate-User", "bob"}, {"Impersonate-Uid", "7"}}, "bob[system:authenticated]"},
      {{{"Impersonate-User", "bob"}, {"Impersonate-Extra-Team", "x"}}, "bob[system:authenticated]"},
      {{{"Impersonate-User", "system:serviceaccount:prod:robot"}},
       "system:serviceaccount:prod:robot[system:serviceaccounts system:serviceaccounts:prod "
       "system:authenticated]"},
      {{{"Impersonate-User", "zoe"}}, "403"},
      {{{"Impersonate-User", "bob"}, {"Impersonate-Group", "system:masters"}}, "403"},
      {{{"Impersonate-User", "bob"}, {"Impersonate-Group", "devs"}, {"Impersonate-Group", "ops"}},
       "403"},
      {{{"Impersonate-User", "bob"}, {"Impersonate-Uid", "8"}}, "403"},
      {{{"Impersonate-User", "bob"}, {"Impersonate-Extra-Other", "x"}}, "403"},
      {{{"Impersonate-User", "system:serviceaccount:prod"}}, "403"},
      {{{"Impersonate-Group", "devs"}}, "400"},
      {{{"Impersonate-User", ""}}, "400"},
      {{{"Impersonate-User", "bob"}, {"Impersonate-User", "zoe"}}, "400"},
      {{{"Impersonate-User", "bob"}, {"Impersonate-Thing", "x"}}, "400"},
      {{{"Impersonate-User", "bob"}, {"Impersonate-Extra-%zz", "x"}}, "400"},
  };
  for (const Row& row : kRows) {
    net::Headers headers = row.headers;
    headers.add("Authorization", "Bearer abc");
    EXPECT_EQ(who({}, headers), row.want) << row.headers.fields().back().second;
  }
  EXPECT_EQ(who({}, {{"Authorization", "Bearer root"}, {"Impersonate-User", "anybody"}}),
            "anybody[system:authenticated]");
  EXPECT_EQ(who({}, {{"Impersonate-User", "bob"}}, "/healthz"), "403");
}

TEST_F(AuthenticatorTest, SaysWhomOneMayNotImpersonate) {
  auto refused = authenticator_.authenticate(
      {}, {{"Authorization", "Bearer abc"}, {"Impersonate-User", "zoe"}},
      *parseRequest("GET", "/version"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().body,
              HasSubstr(R"(users \"zoe\" is forbidden: User \"ann\" cannot impersonate resource )"
                        R"(\"users\" in API group \"\" at the cluster scope)"));
}

TEST_F(AuthenticatorTest, ExtrasOfTheImpersonatedAreDecoded) {
  auto identity = authenticator_.authenticate({},
                                              {{"Authorization", "Bearer root"},
                                               {"Impersonate-User", "bob"},
                                               {"Impersonate-Extra-Example.com%2fRole", "a"},
                                               {"Impersonate-Extra-example.com%2Frole", "b"}},
                                              *parseRequest("GET", "/version"));
  ASSERT_TRUE(identity);
  ASSERT_EQ(identity->extra.size(), 1u);
  EXPECT_EQ(identity->extra[0].first, "example.com/role");
  EXPECT_THAT(identity->extra[0].second, ElementsAre("a", "b"));
}

}  // namespace
}  // namespace mangrove::apiserver
