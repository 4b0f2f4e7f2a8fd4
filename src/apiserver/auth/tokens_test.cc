#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/auth/auth_test_support.h"
#include "apiserver/auth/jwt.h"
#include "apiserver/auth/service_account_token.h"
#include "apiserver/auth/signing_key.h"
#include "apiserver/auth/static_tokens.h"
#include "apiserver/auth/token_request.h"
#include "base/text/encoding.h"
#include "base/text/strings.h"

namespace mangrove::apiserver {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

SigningKey newKey() {
  return *SigningKey::fromPem(*SigningKey::makePem());
}

TEST(SigningKey, ChecksItsOwnSignaturesOnly) {
  const SigningKey key = newKey(), other = newKey();
  const std::string signature = *key.sign("text");
  EXPECT_EQ(signature.size(), 64u);
  EXPECT_TRUE(key.verify("text", signature));
  EXPECT_FALSE(key.verify("Text", signature));
  EXPECT_FALSE(other.verify("text", signature));
  EXPECT_NE(key.id(), other.id());
  for (size_t at : {size_t{0}, size_t{31}, size_t{32}, size_t{63}}) {
    std::string broken = signature;
    broken[at] = static_cast<char>(broken[at] ^ 1);
    EXPECT_FALSE(key.verify("text", broken)) << at;
  }
  EXPECT_FALSE(key.verify("text", ""));
  EXPECT_FALSE(key.verify("text", signature + "x"));
  EXPECT_FALSE(key.verify("text", std::string(64, '\0')));
}

TEST(SigningKey, RefusesWhatIsNoKeyForIt) {
  for (const char* pem :
       {"", "nonsense", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"})
    EXPECT_FALSE(SigningKey::fromPem(pem)) << pem;
}

TEST(SigningKey, ShowsItsPublicHalf) {
  const json::Object jwk = newKey().jwk();
  EXPECT_EQ(jwk.at("kty").as_string(), "EC");
  EXPECT_EQ(jwk.at("crv").as_string(), "P-256");
  for (const char* axis : {"x", "y"})
    EXPECT_EQ(base64UrlDecode(std::string_view(jwk.at(axis).as_string()))->size(), 32u);
  EXPECT_FALSE(jwk.contains("d"));
}

TEST(Jwt, OpensWhatItMade) {
  const SigningKey key = newKey();
  const json::Object claims{{"sub", "x"}, {"n", 3}};
  const std::string token = *makeJwt(key, claims);
  EXPECT_EQ(openJwt(key, token)->as_object(), claims);
  EXPECT_EQ(openJwt(newKey(), token).error().code(), Code::kUnauthorized);
}

TEST(Jwt, RefusesTricks) {
  const SigningKey key = newKey();
  const std::string token = *makeJwt(key, {{"sub", "x"}});
  const auto pieces = split(token, '.');
  const std::string header(pieces[0]), payload(pieces[1]), signature(pieces[2]);
  const auto encode = [](std::string_view text) { return base64UrlEncode(text); };
  const std::string kBad[] = {
      "",
      "..",
      "a.b",
      token + ".",
      token + "=",
      header + "." + payload + ".",
      encode(R"({"alg":"none"})") + "." + payload + ".",
      encode(R"({"alg":"none"})") + "." + payload + "." + signature,
      encode(R"({"alg":"HS256"})") + "." + payload + "." + signature,
      encode(R"({"alg":"ES256"})") + "." + payload + "." + signature,
      encode(R"({"alg":"ES256","kid":"other"})") + "." + payload + "." + signature,
      header + "." + encode(R"({"sub":"root"})") + "." + signature,
      header + "." + payload + "." + encode("short"),
      encode("[]") + "." + payload + "." + signature,
      std::string(100000, 'a') + ".b.c",
  };
  for (const auto& bad : kBad) {
    auto opened = openJwt(key, bad);
    ASSERT_FALSE(opened) << bad.substr(0, 100);
    EXPECT_EQ(opened.error().code(), Code::kUnauthorized);
  }
}

class AccountTokens : public ::testing::Test {
 protected:
  AccountTokens() {
    world_.put(
        R"({"apiVersion":"v1","kind":"ServiceAccount",
                   "metadata":{"name":"robot","namespace":"prod"}})",
        "sa-1");
    world_.put(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","namespace":"prod"},
                  "spec":{"serviceAccountName":"robot","nodeName":"n1"}})",
               "pod-1");
    world_.put(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"other","namespace":"prod"},
                  "spec":{"serviceAccountName":"default"}})",
               "pod-2");
    world_.put(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"}})", "node-1");
  }
  Outcome<json::Value> request(std::string_view spec, std::string_view account = "robot") {
    Call call;
    call.info.verb = Verb::kCreate;
    call.info.ns = "prod";
    call.info.name = account;
    call.contentType = "application/json";
    call.body = R"({"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1","spec":)" +
                std::string(spec) + "}";
    return requestToken(world_.context, tokens_, call);
  }
  std::string tokenFor(std::string_view spec) {
    auto answer = request(spec);
    EXPECT_TRUE(answer) << answer.error().body;
    return std::string(answer->at("status").at("token").as_string());
  }
  std::string why(const std::string& token, const std::vector<std::string>& audiences = {}) {
    auto owner = tokens_.verify(token, audiences);
    return owner ? "" : owner.error().text();
  }
  World world_;
  ServiceAccountTokens tokens_{newKey(), {.issuer = "https://me"}, world_.clock, *world_.store};
};

TEST_F(AccountTokens, StandForTheirAccount) {
  auto owner = tokens_.verify(tokenFor(R"({"boundObjectRef":{"kind":"Pod","name":"web"}})"), {});
  ASSERT_TRUE(owner) << owner.error().text();
  EXPECT_EQ(owner->who.user, "system:serviceaccount:prod:robot");
  EXPECT_EQ(owner->who.uid, "sa-1");
  EXPECT_THAT(
      owner->who.groups,
      ElementsAre("system:serviceaccounts", "system:serviceaccounts:prod", "system:authenticated"));
  EXPECT_THAT(owner->audiences, ElementsAre("https://me"));
  std::vector<std::string> extra;
  for (const auto& [key, values] : owner->who.extra)
    extra.push_back(key.substr(key.find('/') + 1) + "=" + values[0].substr(0, 6));
  EXPECT_THAT(extra, ElementsAre(HasSubstr("credential-id=JTI="), "node-name=n1", "node-uid=node-1",
                                 "pod-name=web", "pod-uid=pod-1"));
}

TEST_F(AccountTokens, CarryTheClaimsOfKubernetes) {
  const std::string token = tokenFor(
      R"({"audiences":["a","b"],"expirationSeconds":7200,
          "boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"web","uid":"pod-1"}})");
  auto claims = *json::parse(*base64UrlDecode(split(token, '.')[1]));
  claims.as_object().erase("jti");
  EXPECT_TRUE(json::equal(claims, *json::parse(R"({"aud":["a","b"],"exp":1800007200,
      "iat":1800000000,"nbf":1800000000,"iss":"https://me","sub":"system:serviceaccount:prod:robot",
      "kubernetes.io":{"namespace":"prod","serviceaccount":{"name":"robot","uid":"sa-1"},
      "pod":{"name":"web","uid":"pod-1"},"node":{"name":"n1","uid":"node-1"}}})")))
      << json::write(claims);
}

TEST_F(AccountTokens, EndWithTheirTime) {
  const std::string token = tokenFor(R"({"expirationSeconds":600})");
  EXPECT_EQ(why(token), "");
  world_.clock.advance(599s);
  EXPECT_EQ(why(token), "");
  world_.clock.advance(1s);
  EXPECT_THAT(why(token), HasSubstr("expired"));
  world_.clock.stepWall(-1h);
  EXPECT_THAT(why(token), HasSubstr("not valid yet"));
}

TEST_F(AccountTokens, EndWithTheirAccountAndPod) {
  const std::string plain = tokenFor("{}");
  const std::string bound = tokenFor(R"({"boundObjectRef":{"kind":"Pod","name":"web"}})");
  world_.remove("", "pods", "prod", "web");
  EXPECT_EQ(why(plain), "");
  EXPECT_THAT(why(bound), HasSubstr("pods, \"web\""));
  world_.put(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","namespace":"prod"}})",
             "pod-9");
  EXPECT_THAT(why(bound), HasSubstr("another one"));
  world_.remove("", "serviceaccounts", "prod", "robot");
  EXPECT_THAT(why(plain), HasSubstr("serviceaccounts"));
}

TEST_F(AccountTokens, AreForTheirAudienceOnly) {
  const std::string token = tokenFor(R"({"audiences":["vault","db"]})");
  EXPECT_THAT(why(token), HasSubstr("meant for [vault db]"));
  EXPECT_EQ(why(token, {"db", "x"}), "");
  EXPECT_THAT(tokens_.verify(token, {"db", "x"})->audiences, ElementsAre("db"));
}

TEST_F(AccountTokens, OfAnotherIssuerOrKeyAreRefused) {
  const SigningKey key = newKey();
  ServiceAccountTokens here(key, {.issuer = "https://me"}, world_.clock, *world_.store);
  ServiceAccountTokens there(key, {.issuer = "https://you", .audiences = {"https://me"}},
                             world_.clock, *world_.store);
  TokenClaims claims;
  claims.ns = "prod";
  claims.account = {"robot", "sa-1"};
  claims.issuedAt = world_.clock.wall();
  claims.expiresAt = claims.issuedAt + 1h;
  EXPECT_TRUE(here.verify(*here.issue(claims), {}));
  EXPECT_THAT(here.verify(*there.issue(claims), {}).error().text(), HasSubstr("issued by"));
  EXPECT_FALSE(tokens_.verify(*here.issue(claims), {}));
}

TEST_F(AccountTokens, OfAnEarlierKeyCountUntilTheyExpire) {
  const std::string before = tokenFor("{}"), unseen = tokenFor("{}");
  EXPECT_EQ(why(before), "");
  tokens_.setKey(newKey());
  const std::string after = tokenFor("{}");
  EXPECT_EQ(why(before), "");
  EXPECT_EQ(why(unseen), "") << "nor does it depend on having been seen before";
  EXPECT_EQ(why(after), "");
  EXPECT_EQ(tokens_.jwks().at("keys").as_array().size(), 2u);
  world_.clock.advance(std::chrono::hours(2));
  EXPECT_NE(why(unseen), "");
}

TEST_F(AccountTokens, RequestsAreChecked) {
  struct Row {
    const char *spec, *account;
    int status;
    const char* text;
  };
  const Row kRows[] = {
      {R"({"expirationSeconds":599})", "robot", 422, "less than 10 minutes"},
      {R"({"expirationSeconds":4294967297})", "robot", 422, "larger than 2^32"},
      {"{}", "nobody", 404, "serviceaccounts"},
      {R"({"boundObjectRef":{"kind":"Pod","name":"none"}})", "robot", 404, "pods"},
      {R"({"boundObjectRef":{"kind":"Pod","name":"web","uid":"x"}})", "robot", 409, "UID"},
      {R"({"boundObjectRef":{"kind":"Pod","name":"other"}})", "robot", 400, "different"},
      {R"({"boundObjectRef":{"kind":"ConfigMap","name":"c"}})", "robot", 400, "cannot bind"},
      {R"({"boundObjectRef":{"kind":"Pod","apiVersion":"v2","name":"web"}})", "robot", 400, "v2"},
      {R"({"audiences":"x"})", "robot", 400, "audiences"},
  };
  for (const Row& row : kRows) {
    auto answer = request(row.spec, row.account);
    ASSERT_FALSE(answer) << row.spec;
    EXPECT_EQ(answer.error().status, row.status) << answer.error().body;
    EXPECT_THAT(answer.error().body, HasSubstr(row.text));
  }
}

TEST_F(AccountTokens, RequestsAnswerWithTheWholeObject) {
  auto answer = request("{}");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->at("kind").as_string(), "TokenRequest");
  EXPECT_EQ(answer->at("metadata").at("name").as_string(), "robot");
  EXPECT_EQ(answer->at("spec").at("expirationSeconds").as_int64(), 3600);
  EXPECT_EQ(answer->at("spec").at("audiences").as_array()[0].as_string(), "https://me");
  EXPECT_EQ(answer->at("status").at("expirationTimestamp").as_string(), "2027-01-15T09:00:00Z");
}

TEST_F(AccountTokens, CanBeCheckedByOthers) {
  EXPECT_EQ(tokens_.jwks().at("keys").as_array().size(), 1u);
  const json::Object about = tokens_.configuration();
  EXPECT_EQ(about.at("issuer").as_string(), "https://me");
  EXPECT_EQ(about.at("jwks_uri").as_string(), "https://me/openid/v1/jwks");
  EXPECT_EQ(json::write(about.at("id_token_signing_alg_values_supported")), R"(["ES256"])");
}

TEST(StaticTokens, ReadTheirFile) {
  auto tokens = StaticTokens::parse(
      "# people\n"
      "abc,ann,1,\"devs, ops\"\n"
      "\n"
      "def , bob ,2\r\n"
      "\"g,h\",\"c\"\"d\",3,solo\n");
  ASSERT_TRUE(tokens) << tokens.error().text();
  EXPECT_EQ(tokens->size(), 3u);
  EXPECT_THAT(tokens->find("abc")->groups, ElementsAre("devs", "ops"));
  EXPECT_EQ(tokens->find("abc")->uid, "1");
  EXPECT_EQ(tokens->find("def")->user, "bob");
  EXPECT_EQ(tokens->find("g,h")->user, "c\"d");
  for (const char* wrong : {"", "ab", "abcd", "ABC", "# people"})
    EXPECT_EQ(tokens->find(wrong), nullptr) << wrong;
}

TEST(StaticTokens, RefuseBadLinesByNumberWithoutShowingSecrets) {
  struct Row {
    const char *text, *why;
  };
  const Row kRows[] = {
      {"secret,ann", "line 1 of the tokens: 2 column(s)"},
      {"a,b,c\nsecret,\"ann,1", "line 2 of the tokens: a quote"},
      {",ann,1", "the token is empty"},
      {"secret,,1", "no user"},
      {"secret,ann,1\nsecret,bob,2", "line 2 of the tokens: the token of 'bob' has an owner"},
  };
  for (const Row& row : kRows) {
    auto tokens = StaticTokens::parse(row.text);
    ASSERT_FALSE(tokens) << row.text;
    EXPECT_THAT(tokens.error().text(), HasSubstr(row.why));
    EXPECT_THAT(tokens.error().text(), ::testing::Not(HasSubstr("secret")));
  }
}

TEST(RandomToken, IsNeverTheSame) {
  EXPECT_EQ(randomToken()->size(), 43u);
  EXPECT_NE(*randomToken(), *randomToken());
}

}  // namespace
}  // namespace mangrove::apiserver
