#include "apiserver/auth/routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/auth/auth_test_support.h"

namespace mangrove::apiserver {
namespace {

using ::testing::HasSubstr;

// Keeps the answer.
class Kept final : public Responder {
 public:
  explicit Kept(Answer& to) : to_(to) {}
  void answer(Answer answer) override { to_ = std::move(answer); }
  std::unique_ptr<AnswerStream> stream(Answer head) override {
    to_ = std::move(head);
    return nullptr;
  }

 private:
  Answer& to_;
};

class Routes : public ::testing::Test {
 protected:
  Routes() {
    world_.put(R"({"apiVersion":"v1","kind":"ServiceAccount",
                   "metadata":{"name":"robot","namespace":"prod"}})",
               "sa-1");
    serveTokens(server_, world_.context, tokens_);
  }
  Answer send(const char* method, const char* target, Identity who, std::string body = "") {
    Call call;
    call.info = *parseRequest(method, target);
    call.who = std::move(who);
    call.body = std::move(body);
    call.contentType = "application/json";
    Answer answer;
    server_.handle(std::move(call), std::make_shared<Kept>(answer));
    world_.settle();
    return answer;
  }
  World world_;
  ServiceAccountTokens tokens_{*SigningKey::fromPem(*SigningKey::makePem()),
                               {.issuer = "https://me"},
                               world_.clock,
                               *world_.store};
  Server server_{world_.context};
  const Identity root_ = user("root", {"system:masters"});
};

TEST_F(Routes, TokensAreMadeForThoseWhoMay) {
  constexpr const char* kPath = "/api/v1/namespaces/prod/serviceaccounts/robot/token";
  const Answer made = send("POST", kPath, root_, R"({"spec":{}})");
  EXPECT_EQ(made.status, 201) << made.body;
  const auto token = json::parse(made.body)->at("status").at("token").as_string();
  EXPECT_EQ(tokens_.verify(std::string_view(token), {})->who.uid, "sa-1");

  EXPECT_EQ(send("GET", kPath, root_).status, 405);
  const Answer refused = send("POST", kPath, user("ann"), R"({"spec":{}})");
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(refused.body, HasSubstr("serviceaccounts/token"));
  EXPECT_EQ(send("POST", "/api/v1/namespaces/prod/serviceaccounts/none/token", root_, "{}").status,
            404);
}

TEST_F(Routes, OthersCanLearnHowToCheckTokens) {
  const Answer keys = send("GET", "/openid/v1/jwks", root_);
  EXPECT_EQ(keys.status, 200);
  EXPECT_EQ(keys.contentType, "application/jwk-set+json");
  EXPECT_THAT(keys.body, HasSubstr(R"("crv":"P-256")"));
  const Answer about = send("GET", "/.well-known/openid-configuration", root_);
  EXPECT_THAT(about.body, HasSubstr(R"("jwks_uri":"https://me/openid/v1/jwks")"));
  EXPECT_EQ(send("GET", "/openid/v1/jwks", user("ann")).status, 403);
}

}  // namespace
}  // namespace mangrove::apiserver
