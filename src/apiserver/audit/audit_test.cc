#include <gtest/gtest.h>

#include "apiserver/audit/log.h"
#include "apiserver/audit/policy.h"
#include "apiserver/core/object.h"
#include "base/os/files.h"
#include "base/os/temp_folder.h"
#include "base/text/strings.h"

namespace mangrove::apiserver::audit {
namespace {

constexpr const char* kPolicy = R"(
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: None, users: [quiet]}
- {level: None, nonResourceURLs: ["/healthz*"]}
- {level: Metadata, resources: [{group: "", resources: [secrets, "pods/*"]}]}
- {level: RequestResponse, verbs: [create], namespaces: [prod], omitStages: [ResponseStarted]}
- {level: Request, userGroups: [people], resources: [{group: apps}]}
)";

Attributes about(std::string verb, std::string group, std::string resource, std::string ns) {
  Attributes out;
  out.verb = std::move(verb);
  out.group = std::move(group);
  out.resource = std::move(resource);
  out.ns = std::move(ns);
  return out;
}

TEST(AuditPolicy, TheFirstRuleThatFitsDecides) {
  auto policy = readPolicy(kPolicy, "p.yaml");
  ASSERT_TRUE(policy) << policy.error().text();
  const Identity ann{"ann", "", {"people"}, {}}, quiet{"quiet", "", {}, {}};
  EXPECT_EQ(judge(*policy, quiet, about("get", "", "secrets", "prod")).level, Level::kNone);
  EXPECT_EQ(judge(*policy, ann, about("get", "", "secrets", "prod")).level, Level::kMetadata);
  EXPECT_EQ(judge(*policy, ann, about("create", "", "pods", "prod")).level,
            Level::kRequestResponse);
  EXPECT_EQ(judge(*policy, ann, about("create", "", "pods", "dev")).level, Level::kNone);
  EXPECT_EQ(judge(*policy, ann, about("list", "apps", "deployments", "")).level, Level::kRequest);
  Attributes exec = about("create", "", "pods", "dev");
  exec.subresource = "exec";
  EXPECT_EQ(judge(*policy, ann, exec).level, Level::kMetadata);
  Attributes health;
  health.isResource = false;
  health.path = "/healthz/ping";
  EXPECT_EQ(judge(*policy, ann, health).level, Level::kNone);
  const Verdict made = judge(*policy, ann, about("create", "", "pods", "prod"));
  EXPECT_FALSE(made.writes(Stage::kRequestReceived));
  EXPECT_FALSE(made.writes(Stage::kResponseStarted));
  EXPECT_TRUE(made.writes(Stage::kResponseComplete));
}

TEST(AuditPolicy, SaysWhatIsWrong) {
  for (auto [text, want] : {std::pair{"kind: Pod", "want one Policy"},
                            std::pair{"{apiVersion: audit.k8s.io/v1, kind: Policy}", "empty"},
                            std::pair{"{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: "
                                      "All}]}",
                                      "want None, Metadata"},
                            std::pair{"{apiVersion: audit.k8s.io/v1, kind: Policy, omitStages: "
                                      "[Late], rules: []}",
                                      "'Late'"}}) {
    auto policy = readPolicy(text, "p.yaml");
    ASSERT_FALSE(policy) << text;
    EXPECT_NE(policy.error().text().find(want), std::string::npos) << policy.error().text();
  }
}

class Sink final : public Responder {
 public:
  void answer(Answer) override {}
  std::unique_ptr<AnswerStream> stream(Answer) override { return nullptr; }
};

TEST(AuditLog, WritesLinesAndTurnsOver) {
  const TempFolder folder("audit-test");
  const std::string path = folder.file("audit.log");
  VirtualClock clock{WallTime(std::chrono::seconds(1'800'000'000))};
  {
    auto log = AuditLog::open({path, *readPolicy(kPolicy, "p"), 3000, 2}, clock);
    ASSERT_TRUE(log) << log.error().text();
    for (int i = 0; i < 20; ++i) {
      Call call;
      call.info = *parseRequest("POST", "/api/v1/namespaces/prod/pods");
      call.who = {"ann", "", {"people"}, {}};
      call.body = R"({"kind":"Pod","metadata":{"name":"p"}})";
      (*log)
          ->watched(call, "/api/v1/namespaces/prod/pods", "10.0.0.1", std::make_shared<Sink>())
          ->answer(answer::json(201, R"({"kind":"Pod","metadata":{"name":"p","uid":"u"}})"));
    }
  }
  auto text = readFile(path);
  ASSERT_TRUE(text);
  const auto lines = splitTrimmed(*text, '\n');
  ASSERT_FALSE(lines.empty());
  auto event = json::parse(lines.front());
  ASSERT_TRUE(event) << lines.front();
  EXPECT_EQ(textAt(event->get_object(), "stage"), "ResponseComplete");
  EXPECT_EQ(event->at("user").at("username"), "ann");
  EXPECT_EQ(event->at("objectRef").at("resource"), "pods");
  EXPECT_EQ(event->at("responseStatus").at("code"), 201);
  EXPECT_EQ(event->at("requestObject").at("metadata").at("name"), "p");
  EXPECT_EQ(event->at("responseObject").at("metadata").at("uid"), "u");
}

TEST(AuditLog, HasWhatAdmissionNoted) {
  const TempFolder folder("audit-test");
  const std::string path = folder.file("audit.log");
  VirtualClock clock{WallTime(std::chrono::seconds(1'800'000'000))};
  {
    auto log = AuditLog::open({path, *readPolicy(kPolicy, "p"), 100'000, 2}, clock);
    ASSERT_TRUE(log) << log.error().text();
    Call call;
    call.info = *parseRequest("POST", "/api/v1/namespaces/prod/pods");
    call.who = {"ann", "", {"people"}, {}};
    Answer refused = answer::forbidden("violates PodSecurity");
    refused.auditNotes = {{"pod-security.kubernetes.io/enforce-policy", "baseline:latest"}};
    (*log)->watched(call, "/", "10.0.0.1", std::make_shared<Sink>())->answer(std::move(refused));
    (*log)
        ->watched(call, "/", "10.0.0.1", std::make_shared<Sink>())
        ->answer(answer::forbidden("no role says so"));
  }
  const auto text = readFile(path);
  const auto lines = splitTrimmed(*text, '\n');
  ASSERT_EQ(lines.size(), 2U);
  const auto byAdmission = json::parse(lines[0]), byRoles = json::parse(lines[1]);
  const json::Object& notes = byAdmission->at("annotations").get_object();
  EXPECT_EQ(notes.at("pod-security.kubernetes.io/enforce-policy"), "baseline:latest");
  EXPECT_EQ(notes.at("authorization.k8s.io/decision"), "allow");
  EXPECT_EQ(byRoles->at("annotations").at("authorization.k8s.io/decision"), "forbid");
}

}  // namespace
}  // namespace mangrove::apiserver::audit
