#include "apiserver/auth/reviews.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/auth/auth_test_support.h"
#include "apiserver/auth/default_service_account.h"

namespace mangrove::apiserver {
namespace {

using ::testing::HasSubstr;

class ReviewsTest : public ::testing::Test {
 protected:
  ReviewsTest() {
    world_.rbac.put("clusterroles", "", "reader",
                    object(R"({"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]},
                                        {"verbs":["get"],"nonResourceURLs":["/metrics"]}]})"));
    world_.rbac.put("clusterrolebindings", "", "devs",
                    object(R"({"roleRef":{"kind":"ClusterRole","name":"reader"},
                               "subjects":[{"kind":"Group","name":"devs"}]})"));
  }
  Outcome<json::Value> review(std::string_view group, std::string_view plural, std::string body,
                              std::string ns = "") {
    Call call;
    call.info.verb = Verb::kCreate;
    call.info.ns = std::move(ns);
    call.who = Identity{"ann", "1", {"devs"}, {{"k", {"v"}}}};
    call.body = std::move(body);
    call.contentType = "application/json";
    std::vector<std::string> warnings;
    return reviews_.review(call, *world_.resources.find(group, "v1", plural), warnings);
  }
  // The status as text, or the refusal's code and body.
  std::string access(std::string_view plural, std::string body, std::string ns = "") {
    auto answer = review("authorization.k8s.io", plural, std::move(body), std::move(ns));
    if (!answer) return std::to_string(answer.error().status) + answer.error().body;
    return json::write(answer->at("status"));
  }
  World world_;
  ServiceAccountTokens accounts_{*SigningKey::fromPem(*SigningKey::makePem()),
                                 {.issuer = "https://me"},
                                 world_.clock,
                                 *world_.store};
  Authenticator authenticator_{*StaticTokens::parse("abc,bob,7,ops"), &accounts_, world_.rbac};
  Reviews reviews_{authenticator_, world_.rbac, world_.rbac};
};

TEST_F(ReviewsTest, AnswerQuestionsOfAccess) {
  const std::string allowed =
      R"({"allowed":true,"reason":"RBAC: allowed by ClusterRoleBinding \"devs\" of )"
      R"(ClusterRole \"reader\" to Group \"devs\""})";
  const std::string refused = R"({"allowed":false})";
  struct Row {
    const char *plural, *ns, *spec;
    std::string want;
  };
  const Row kRows[] = {
      {"selfsubjectaccessreviews", "",
       R"({"resourceAttributes":{"verb":"get","resource":"pods","namespace":"prod"}})", allowed},
      {"selfsubjectaccessreviews", "",
       R"({"resourceAttributes":{"verb":"delete","resource":"pods","namespace":"prod"}})", refused},
      {"selfsubjectaccessreviews", "",
       R"({"nonResourceAttributes":{"verb":"get","path":"/metrics"}})", allowed},
      {"selfsubjectaccessreviews", "", R"({"nonResourceAttributes":{"verb":"get","path":"/x"}})",
       refused},
      {"subjectaccessreviews", "",
       R"({"user":"zoe","groups":["devs"],"resourceAttributes":{"verb":"get","resource":"pods"}})",
       allowed},
      {"subjectaccessreviews", "",
       R"({"user":"zoe","resourceAttributes":{"verb":"get","resource":"pods"}})", refused},
      {"localsubjectaccessreviews", "prod",
       R"({"groups":["devs"],
           "resourceAttributes":{"verb":"get","resource":"pods","namespace":"prod"}})",
       allowed},
  };
  for (const Row& row : kRows)
    EXPECT_EQ(access(row.plural, R"({"spec":)" + std::string(row.spec) + "}", row.ns), row.want)
        << row.spec;
}

TEST_F(ReviewsTest, RefuseQuestionsWithoutSense) {
  struct Row {
    const char *plural, *spec, *want;
  };
  const Row kRows[] = {
      {"selfsubjectaccessreviews", "{}", "422"},
      {"selfsubjectaccessreviews",
       R"({"resourceAttributes":{"verb":"get"},"nonResourceAttributes":{"path":"/"}})", "422"},
      {"subjectaccessreviews", R"({"resourceAttributes":{"verb":"get","resource":"pods"}})", "422"},
      {"localsubjectaccessreviews",
       R"({"user":"a","resourceAttributes":{"verb":"get","namespace":"test"}})", "422"},
      {"localsubjectaccessreviews", R"({"user":"a","nonResourceAttributes":{"path":"/"}})", "422"},
      {"selfsubjectrulesreviews", "{}", "400"},
      {"selfsubjectaccessreviews", R"({"resourceAttributes":7})", "400"},
  };
  for (const Row& row : kRows)
    EXPECT_THAT(access(row.plural, R"({"spec":)" + std::string(row.spec) + "}", "prod"),
                ::testing::StartsWith(row.want))
        << row.spec;
}

TEST_F(ReviewsTest, ListTheRulesOfTheCaller) {
  EXPECT_EQ(access("selfsubjectrulesreviews", R"({"spec":{"namespace":"prod"}})"),
            R"({"resourceRules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}],)"
            R"("nonResourceRules":[{"verbs":["get"],"nonResourceURLs":["/metrics"]}],)"
            R"("incomplete":false})");
}

TEST_F(ReviewsTest, SayWhoIsAsking) {
  auto answer = review("authentication.k8s.io", "selfsubjectreviews",
                       R"({"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1"})");
  ASSERT_TRUE(answer) << answer.error().body;
  EXPECT_EQ(json::write(answer->at("status").at("userInfo")),
            R"({"username":"ann","uid":"1","groups":["devs"],"extra":{"k":["v"]}})");
}

TEST_F(ReviewsTest, SayWhomATokenStandsFor) {
  struct Row {
    const char *spec, *want;
  };
  constexpr const char* kBob =
      R"({"authenticated":true,"user":{"username":"bob","uid":"7",)"
      R"("groups":["ops","system:authenticated"]},"audiences":["https://me"]})";
  const Row kRows[] = {
      {R"({"token":"abc"})", kBob},
      {R"({"token":"abc","audiences":["x","https://me"]})", kBob},
      {R"({"token":"abc","audiences":["x"]})",
       R"({"user":{},"error":"token: it is meant for [https://me], not for [x]"})"},
      {R"({"token":"nobody's"})", R"({"user":{},"error":"token: nobody has it"})"},
  };
  for (const Row& row : kRows) {
    auto answer = review("authentication.k8s.io", "tokenreviews",
                         R"({"spec":)" + std::string(row.spec) + "}");
    ASSERT_TRUE(answer) << answer.error().body;
    EXPECT_EQ(json::write(answer->at("status")), row.want) << row.spec;
  }
  EXPECT_EQ(review("authentication.k8s.io", "tokenreviews", R"({"spec":{}})").error().status, 422);
}

TEST_F(ReviewsTest, OtherKindsAreNoReviews) {
  EXPECT_EQ(review("", "pods", "{}").error().status, 404);
}

class DefaultAccountsTest : public ::testing::Test {
 protected:
  DefaultAccountsTest() { world_.context.observers.push_back(&accounts_); }
  void makeNamespace(const std::string& name, const std::string& more = "") {
    world_.put(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")" + name + "\"" +
               more + "}}");
  }
  std::string ca(std::string_view ns) {
    const json::Value map = world_.get("", "configmaps", ns, "kube-root-ca.crt");
    return map.is_null() ? "" : std::string(map.at("data").at("ca.crt").as_string());
  }
  bool hasAccount(std::string_view ns) {
    return !world_.get("", "serviceaccounts", ns, "default").is_null();
  }
  World world_;
  DefaultAccounts accounts_{world_.context, "PEM"};
};

TEST_F(DefaultAccountsTest, ComeWithEveryNamespace) {
  makeNamespace("a");
  makeNamespace("b");
  for (const char* ns : {"a", "b"}) {
    EXPECT_TRUE(hasAccount(ns));
    EXPECT_EQ(ca(ns), "PEM");
    EXPECT_FALSE(world_.get("", "serviceaccounts", ns, "default")
                     .at("metadata")
                     .at("uid")
                     .as_string()
                     .empty());
  }
}

TEST_F(DefaultAccountsTest, ComeBackWhenLost) {
  makeNamespace("a");
  world_.remove("", "serviceaccounts", "a", "default");
  EXPECT_TRUE(hasAccount("a"));
  world_.remove("", "configmaps", "a", "kube-root-ca.crt");
  EXPECT_EQ(ca("a"), "PEM");
  world_.put(
      R"({"apiVersion":"v1","kind":"ConfigMap",
                "metadata":{"name":"kube-root-ca.crt","namespace":"a"},
                "data":{"ca.crt":"forged"}})");
  EXPECT_EQ(ca("a"), "PEM");
}

TEST_F(DefaultAccountsTest, StayAwayFromNamespacesThatEnd) {
  makeNamespace("a");
  makeNamespace("a", R"(,"deletionTimestamp":"2027-01-15T08:00:00Z")");
  world_.remove("", "serviceaccounts", "a", "default");
  EXPECT_FALSE(hasAccount("a"));
}

TEST_F(DefaultAccountsTest, FurnishWhatWasThereBefore) {
  world_.context.observers.clear();
  makeNamespace("old");
  EXPECT_FALSE(hasAccount("old"));
  accounts_.refresh();
  world_.settle();
  EXPECT_TRUE(hasAccount("old"));
  EXPECT_EQ(ca("old"), "PEM");
}

}  // namespace
}  // namespace mangrove::apiserver
