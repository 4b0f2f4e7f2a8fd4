#include <gtest/gtest.h>

#include "apiserver/audit/log.h"
#include "apiserver/audit/policy.h"
#include "apiserver/core/object.h"
#include "apiserver/protobuf/envelope.h"
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

using Exchange = std::pair<Call, Answer>;

// What the log has of these, one event each.
std::vector<json::Value> written(std::vector<Exchange> exchanges) {
  const TempFolder folder("audit-test");
  VirtualClock clock{WallTime(std::chrono::seconds(1'800'000'000))};
  {
    auto log =
        AuditLog::open({folder.file("audit.log"), *readPolicy(kPolicy, "p"), 100'000, 2}, clock);
    for (auto& [call, answer] : exchanges)
      (*log)->watched(call, "/", "10.0.0.1", std::make_shared<Sink>())->answer(std::move(answer));
  }
  std::vector<json::Value> out;
  const auto text = readFile(folder.file("audit.log"));
  for (const auto& line : splitTrimmed(*text, '\n'))
    if (auto event = json::parse(line)) out.push_back(std::move(*event));
  return out;
}

Call createPod(std::string body = "", std::string type = "application/json") {
  Call call;
  call.info = *parseRequest("POST", "/api/v1/namespaces/prod/pods");
  call.who = {"ann", "", {"people"}, {}};
  call.body = std::move(body);
  call.contentType = std::move(type);
  return call;
}

TEST(AuditLog, HasWhatAdmissionNoted) {
  Answer refused = answer::forbidden("violates PodSecurity");
  refused.auditNotes = {{"pod-security.kubernetes.io/enforce-policy", "baseline:latest"}};
  const auto events = written(
      {{createPod(), std::move(refused)}, {createPod(), answer::forbidden("no role says so")}});
  ASSERT_EQ(events.size(), 2U);
  const json::Object& notes = events[0].at("annotations").get_object();
  EXPECT_EQ(notes.at("pod-security.kubernetes.io/enforce-policy"), "baseline:latest");
  EXPECT_EQ(notes.at("authorization.k8s.io/decision"), "allow");
  EXPECT_EQ(events[1].at("annotations").at("authorization.k8s.io/decision"), "forbid");
}

TEST(AuditLog, NamesWhoAsksBeforeWhomHeImpersonates) {
  Call call = createPod();
  call.who = {"quiet", "", {}, {}};
  call.who.behind = std::make_shared<const Identity>(Identity{"ann", "7", {"people"}, {}});
  const auto events = written({{call, answer::json(201, "{}")}});
  ASSERT_EQ(events.size(), 1U) << "nobody gets out of the log by a name that it leaves out";
  EXPECT_EQ(events[0].at("user").at("username"), "ann");
  EXPECT_EQ(events[0].at("user").at("uid"), "7");
  EXPECT_EQ(events[0].at("impersonatedUser").at("username"), "quiet");
}

TEST(AuditLog, HasTheBodyHoweverItIsSent) {
  const auto pod = json::parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}})");
  json::Doc doc;
  const auto proto = protobuf::toProtobuf(*doc.parse(json::write(*pod)));
  ASSERT_TRUE(proto);
  const std::pair<std::string, std::string> bodies[] = {
      {R"({"kind":"Pod","metadata":{"name":"p"},"items":[]})", "application/json"},
      {"metadata:\n  name: p\n", "application/apply-patch+yaml"},
      {*proto, std::string(protobuf::kMediaType)}};
  for (const auto& [body, type] : bodies) {
    Answer made = answer::json(201, body);
    made.contentType = type;
    const auto events = written({{createPod(body, type), std::move(made)}});
    ASSERT_EQ(events.size(), 1U) << type;
    EXPECT_EQ(events[0].at("requestObject").at("metadata").at("name"), "p") << type;
    EXPECT_EQ(events[0].at("responseObject").at("metadata").at("name"), "p") << type;
  }
}

TEST(AuditLog, LeavesListsOutOfAnswers) {
  const auto events =
      written({{createPod(), answer::json(200, R"({"kind":"PodList","items":[]})")}});
  ASSERT_EQ(events.size(), 1U);
  EXPECT_TRUE(events[0].at("responseObject").is_null());
}

}  // namespace
}  // namespace mangrove::apiserver::audit
