// Webhooks from a configuration in the store to a real HTTPS server on loopback and back.
#include "apiserver/admission/webhook.h"

#include <map>
#include <mutex>

#include "apiserver/core/object.h"
#include "apiserver/core/test_server.h"
#include "apiserver/subresources/subresources.h"
#include "base/text/encoding.h"
#include "net/test_support.h"

namespace mangrove::apiserver {
namespace {

namespace nt = net::testing;

constexpr const char* kMaps = "/api/v1/namespaces/d/configmaps";
const std::string kConfigs = "/apis/admissionregistration.k8s.io/v1/";

class WebhookTest : public testing::ServerFixture {
 protected:
  void SetUp() override {
    ServerFixture::SetUp();
    net::ServerOptions options;
    options.tls = nt::tlsOf(keys_.server({"localhost", "hook.d.svc"}, {"127.0.0.1"}));
    endpoint_ =
        nt::serve(loop_, std::move(options), [this](std::shared_ptr<net::Exchange> x) { play(x); });
    WebhookOptions hookOptions;
    hookOptions.resolveService = [this](const ServiceReference& to) -> std::optional<std::string> {
      if (to.name != "hook") return std::nullopt;
      return "127.0.0.1:" + std::to_string(endpoint_->port());
    };
    hookOptions.failed = [this](const Webhook& webhook, WebhookType, const std::string& sentence) {
      failures_.push_back(webhook.configuration + ": " + sentence);
    };
    auto hooks = std::make_unique<Webhooks>(*context_, loop_, std::move(hookOptions));
    hooks->load();
    context_->observers.push_back(hooks.get());
    admission_.add(std::move(hooks));
  }
  void TearDown() override {
    ServerFixture::TearDown();
    context_->observers.clear();
    admission_ = AdmissionChain();
    held_.clear();
    endpoint_.reset();
    owner_.drain();
  }

  // What the webhook at each path answers, besides the uid. Without an entry: never.
  using Play = std::function<json::Object(const json::Object& request)>;
  void on(const std::string& path, Play answer) {
    std::lock_guard lock(mutex_);
    plays_[path] = std::move(answer);
  }
  static json::Object patched(std::string_view patch) {
    return {{"allowed", true}, {"patchType", "JSONPatch"}, {"patch", base64Encode(patch)}};
  }

  std::string hook(const std::string& name, const std::string& path, const std::string& more = "") {
    return R"({"name":")" + name + R"(.x.io","clientConfig":{"url":"https://127.0.0.1:)" +
           std::to_string(endpoint_->port()) + path + R"(","caBundle":")" +
           base64Encode(keys_.ca.certPem) + R"("},)" + kRules + kEnd + more + "}";
  }
  Answer configure(const std::string& plural, const std::string& name, const std::string& hooks) {
    auto made = ask("POST", kConfigs + plural,
                    R"({"metadata":{"name":")" + name + R"("},"webhooks":[)" + hooks + "]}");
    EXPECT_EQ(made.status, 201) << made.body;
    return made;
  }
  void mutating(const std::string& hooks) {
    configure("mutatingwebhookconfigurations", "m", hooks);
  }
  void validating(const std::string& hooks) {
    configure("validatingwebhookconfigurations", "v", hooks);
  }
  Answer create(const std::string& query = "", const std::string& labels = R"({"a":"1"})") {
    return ask("POST", kMaps + query, R"({"metadata":{"name":"c","labels":)" + labels + "}}");
  }
  std::vector<std::string> asked() {
    std::lock_guard lock(mutex_);
    return asked_;
  }

  static constexpr const char* kRules =
      R"("rules":[{"operations":["CREATE","DELETE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}],)";
  static constexpr const char* kEnd = R"("sideEffects":"None","admissionReviewVersions":["v1"])";

  nt::Keys keys_;
  net::Loop loop_{1};
  std::unique_ptr<net::HttpServer> endpoint_;
  std::mutex mutex_;
  json::Object lastRequest_;
  std::vector<std::string> failures_;  // told to users

 private:
  void play(const std::shared_ptr<net::Exchange>& exchange) {
    auto review = json::parse(exchange->request().body);
    const std::string target(net::Target::split(exchange->request().target).path);
    std::lock_guard lock(mutex_);
    asked_.push_back(target);
    const json::Object& request = review->get_object()["request"].get_object();
    lastRequest_ = request;
    auto found = plays_.find(target);
    if (found == plays_.end()) return held_.push_back(exchange);
    json::Object response = found->second(request);
    response["uid"] = textAt(request, "uid");
    exchange->reply(
        net::HttpResponse::json(200, json::write(json::Object{{"kind", "AdmissionReview"},
                                                              {"apiVersion", "admission.k8s.io/v1"},
                                                              {"response", std::move(response)}})));
  }

  std::map<std::string, Play> plays_;
  std::vector<std::string> asked_;
  std::vector<std::shared_ptr<net::Exchange>> held_;
};

json::Object allow(const json::Object&) {
  return {{"allowed", true}};
}

TEST_F(WebhookTest, MutatesAndWarns) {
  on("/label", [](const json::Object&) {
    auto answer = patched(R"([{"op":"add","path":"/metadata/labels/made","value":"yes"}])");
    answer["warnings"] = json::Array{"mind the gap"};
    return answer;
  });
  mutating(hook("label", "/label"));
  auto made = create();
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(at(made, "/metadata/labels/made"), "yes");
  ASSERT_EQ(made.warnings.size(), 1u);
  EXPECT_EQ(made.warnings[0], "mind the gap");
  std::lock_guard lock(mutex_);
  EXPECT_EQ(textAt(lastRequest_, "operation"), "CREATE");
  EXPECT_EQ(textAt(lastRequest_, "namespace"), "d");
  EXPECT_EQ(textAt(*findObject(lastRequest_, "userInfo"), "username"), "tester");
  EXPECT_EQ(textAt(*findObject(lastRequest_, "resource"), "resource"), "configmaps");
  EXPECT_TRUE(lastRequest_.at("oldObject").is_null());
}

TEST_F(WebhookTest, ValidatesWithTheWebhooksOwnStatus) {
  on("/deny", [](const json::Object&) -> json::Object {
    return {{"allowed", false},
            {"status", json::Object{{"code", 418}, {"reason", "Tea"}, {"message", "no coffee"}}}};
  });
  validating(hook("deny", "/deny"));
  auto denied = create();
  EXPECT_EQ(denied.status, 418) << denied.body;
  EXPECT_EQ(at(denied, "/message"),
            "admission webhook \"deny.x.io\" denied the request: no coffee");
  EXPECT_EQ(at(denied, "/reason"), "Tea");
  EXPECT_EQ(ask("GET", std::string(kMaps) + "/c").status, 404);
  on("/deny", [](const json::Object&) -> json::Object { return {{"allowed", false}}; });
  EXPECT_EQ(create().status, 400);
  ask("DELETE", kConfigs + "validatingwebhookconfigurations/v");
  EXPECT_EQ(create().status, 201) << "the configuration is gone";
}

TEST_F(WebhookTest, FailurePolicyDecidesAboutBrokenWebhooks) {
  on("/uid", [](const json::Object&) -> json::Object {
    return {{"allowed", true}, {"patchType", "Other"}, {"patch", "e30="}};
  });
  mutating(hook("bad", "/uid", R"(,"failurePolicy":"Ignore")"));
  EXPECT_EQ(create().status, 201);
  ask("DELETE", kConfigs + "mutatingwebhookconfigurations/m");
  mutating(hook("bad", "/uid"));
  auto refused = ask("POST", kMaps, R"({"metadata":{"name":"e"}})");
  EXPECT_EQ(refused.status, 500);
  EXPECT_NE(refused.body.find(R"(failed calling webhook \"bad.x.io\")"), std::string::npos)
      << refused.body;
  ASSERT_EQ(failures_.size(), 2u);
  EXPECT_TRUE(failures_[0].starts_with(R"(m: failed calling webhook "bad.x.io" about CREATE)"));
  EXPECT_TRUE(failures_[0].ends_with("failurePolicy Ignore: such requests pass unjudged"));
  EXPECT_TRUE(failures_[1].ends_with("failurePolicy Fail: such requests are refused"));
}

TEST_F(WebhookTest, GivesUpAfterTheTimeout) {
  mutating(hook("slow", "/never", R"(,"timeoutSeconds":1)"));
  auto refused = create();
  EXPECT_EQ(refused.status, 500) << refused.body;
  EXPECT_NE(refused.body.find("slow.x.io"), std::string::npos);
}

TEST_F(WebhookTest, TrustsOnlyTheBundle) {
  on("/ok", allow);
  nt::Keys strangers("strangers");
  mutating(R"({"name":"s.x.io","clientConfig":{"url":"https://127.0.0.1:)" +
           std::to_string(endpoint_->port()) + R"(/ok","caBundle":")" +
           base64Encode(strangers.ca.certPem) + R"("},)" + kRules + kEnd + "}");
  EXPECT_EQ(create().status, 500);
  EXPECT_TRUE(asked().empty());
}

TEST_F(WebhookTest, AsksOnlyAboutWhatIsSelected) {
  on("/ok", allow);
  ASSERT_EQ(
      ask("POST", "/api/v1/namespaces", R"({"metadata":{"name":"d","labels":{"env":"prod"}}})")
          .status,
      201);
  struct Row {
    const char* more;
    bool asked;
  };
  for (
      const Row& row : std::initializer_list<Row>{
          {"", true},
          {R"(,"objectSelector":{"matchLabels":{"a":"1"}})", true},
          {R"(,"objectSelector":{"matchLabels":{"a":"2"}})", false},
          {R"(,"namespaceSelector":{"matchLabels":{"env":"prod"}})", true},
          {R"(,"namespaceSelector":{"matchExpressions":[{"key":"env","operator":"NotIn","values":["prod"]}]})",
           false},
      }) {
    mutating(hook("h", "/ok", row.more));
    const size_t before = asked().size();
    EXPECT_EQ(create().status, 201);
    EXPECT_EQ(asked().size() > before, row.asked) << row.more;
    ask("DELETE", kConfigs + "mutatingwebhookconfigurations/m");
    ask("DELETE", std::string(kMaps) + "/c");
  }
}

TEST_F(WebhookTest, DryRunsReachOnlyHarmlessWebhooks) {
  on("/ok", allow);
  mutating(hook("none", "/ok"));
  EXPECT_EQ(create("?dryRun=All").status, 201);
  {
    std::lock_guard lock(mutex_);
    EXPECT_TRUE(lastRequest_.at("dryRun").get_bool());
  }
  auto compiled = compileWebhooks(
      json::parse(R"({"webhooks":[{"name":"h","sideEffects":"Some"}]})")->get_object());
  EXPECT_TRUE(compiled[0]->sideEffects);
}

TEST_F(WebhookTest, AsksAgainWhenALaterOneChangedTheObject) {
  on("/count", [](const json::Object& request) {
    const json::Object& labels =
        *findObject(metadataOf(request.at("object").get_object()), "labels");
    const std::string times = labels.contains("count") ? "2" : "1";
    return patched(R"([{"op":"add","path":"/metadata/labels/count","value":")" + times + R"("}])");
  });
  on("/late", [](const json::Object&) {
    return patched(R"([{"op":"add","path":"/metadata/labels/late","value":"x"}])");
  });
  mutating(hook("a", "/count", R"(,"reinvocationPolicy":"IfNeeded")") + "," + hook("b", "/late"));
  auto made = create();
  EXPECT_EQ(at(made, "/metadata/labels/count"), "2") << made.body;
  EXPECT_EQ(asked(), (std::vector<std::string>{"/count", "/late", "/count"}));
}

TEST_F(WebhookTest, ServicesMustBeOnThisMachine) {
  on("/svc", allow);
  auto service = [&](const std::string& name) {
    return R"({"name":"s.x.io","clientConfig":{"service":{"namespace":"d","name":")" + name +
           R"(","path":"/svc"},"caBundle":")" + base64Encode(keys_.ca.certPem) + R"("},)" + kRules +
           kEnd + "}";
  };
  auto known = configure("mutatingwebhookconfigurations", "m", service("hook"));
  EXPECT_TRUE(known.warnings.empty());
  EXPECT_EQ(create().status, 201);
  EXPECT_EQ(asked(), std::vector<std::string>{"/svc"});
  EXPECT_EQ(configure("validatingwebhookconfigurations", "v", service("far")).warnings.size(), 1u);
  auto refused = ask("DELETE", std::string(kMaps) + "/c");
  EXPECT_EQ(refused.status, 500);
  EXPECT_NE(refused.body.find("no pod is ready behind it"), std::string::npos) << refused.body;
}

TEST_F(WebhookTest, ConditionsThatCannotBeEvaluatedAreRefused) {
  auto refused =
      ask("POST", "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
          R"({"metadata":{"name":"m"},"webhooks":[)" +
              hook("a", "/x", R"(,"matchConditions":[{"name":"c","expression":"true"}])") + "]}");
  EXPECT_EQ(refused.status, 403);
  EXPECT_NE(refused.body.find("matchConditions are CEL"), std::string::npos) << refused.body;
}

TEST_F(WebhookTest, IsAskedAboutAScaleWhenThatIsWritten) {
  serveSubresources(*server_, *context_, nullptr);
  std::string kind;
  on("/scale", [&](const json::Object& request) {
    kind = textAt(request.at("object").as_object(), "kind");
    return patched(R"([{"op":"replace","path":"/spec/replicas","value":7}])");
  });
  mutating(R"({"name":"s.x.io","clientConfig":{"url":"https://127.0.0.1:)" +
           std::to_string(endpoint_->port()) + R"(/scale","caBundle":")" +
           base64Encode(keys_.ca.certPem) +
           R"("},"rules":[{"operations":["UPDATE"],"apiGroups":["apps"],"apiVersions":["v1"],)"
           R"("resources":["*/scale"]}],)" +
           kEnd + "}");
  const std::string sets = "/apis/apps/v1/namespaces/default/replicasets";
  ask("POST", sets,
      R"({"metadata":{"name":"r"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{
          "metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  auto scaled =
      ask("PATCH", sets + "/r/scale", R"({"spec":{"replicas":3}})", "application/merge-patch+json");
  EXPECT_EQ(kind, "Scale");
  EXPECT_EQ(at(scaled, "/spec/replicas"), "7") << scaled.body;
}

TEST_F(WebhookTest, IsAskedAboutBindingsAndEvictions) {
  serveSubresources(*server_, *context_, nullptr);
  on("/note", [](const json::Object&) {
    return patched(R"([{"op":"add","path":"/metadata/annotations","value":{"why":"hook"}}])");
  });
  on("/stay", [](const json::Object&) -> json::Object { return {{"allowed", false}}; });
  auto below = [&](const std::string& path, const std::string& resource) {
    return R"({"name":"p.x.io","clientConfig":{"url":"https://127.0.0.1:)" +
           std::to_string(endpoint_->port()) + path + R"(","caBundle":")" +
           base64Encode(keys_.ca.certPem) +
           R"("},"rules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":[")" +
           resource + R"("]}],)" + kEnd + "}";
  };
  mutating(below("/note", "pods/binding"));
  validating(below("/stay", "pods/eviction"));
  const std::string pods = "/api/v1/namespaces/d/pods";
  ASSERT_EQ(ask("POST", pods,
                R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i:1"}]}})")
                .status,
            201);
  auto bound =
      ask("POST", pods + "/p/binding", R"({"metadata":{"name":"p"},"target":{"name":"n1"}})");
  ASSERT_EQ(bound.status, 201) << bound.body;
  EXPECT_EQ(at(ask("GET", pods + "/p"), "/metadata/annotations/why"), "hook");
  EXPECT_EQ(ask("POST", pods + "/p/eviction", R"({"metadata":{"name":"p"}})").status, 400);
  EXPECT_EQ(asked(), (std::vector<std::string>{"/note", "/stay"}));
  std::lock_guard lock(mutex_);
  const json::Object& kind = *findObject(lastRequest_, "kind");
  EXPECT_EQ(textAt(kind, "group"), "policy");
  EXPECT_EQ(textAt(kind, "kind"), "Eviction");
  EXPECT_EQ(textAt(lastRequest_, "subResource"), "eviction");
}

TEST(WebhookRules, MatchGroupVersionResourceScopeAndOperation) {
  Resources resources;
  AdmissionRequest request;
  request.resource = resources.find("apps", "v1", "deployments");
  request.subresource = "scale";
  request.operation = Operation::kUpdate;
  struct Row {
    const char* rule;
    bool want;
  };
  for (
      const Row& row : std::initializer_list<Row>{
          {R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*/*"]})",
           true},
          {R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]})",
           false},
          {R"({"operations":["UPDATE"],"apiGroups":["apps"],"apiVersions":["v1"],"resources":["deployments/scale"]})",
           true},
          {R"({"operations":["UPDATE"],"apiGroups":["apps"],"apiVersions":["v1"],"resources":["*/scale"],"scope":"Namespaced"})",
           true},
          {R"({"operations":["UPDATE"],"apiGroups":["apps"],"apiVersions":["v1"],"resources":["*/scale"],"scope":"Cluster"})",
           false},
          {R"({"operations":["CREATE"],"apiGroups":["apps"],"apiVersions":["v1"],"resources":["*/scale"]})",
           false},
          {R"({"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],"resources":["*/scale"]})",
           false},
          {R"({"operations":["*"],"apiGroups":["apps"],"apiVersions":["v1beta1"],"resources":["*/scale"]})",
           false},
      }) {
    auto hooks =
        compileWebhooks(json::parse(R"({"webhooks":[{"name":"h","matchPolicy":"Exact","rules":[)" +
                                    std::string(row.rule) + "]}]}")
                            ->get_object());
    ASSERT_EQ(hooks.size(), 1u);
    EXPECT_EQ(hooks[0]->wants(request, nullptr), row.want) << row.rule;
  }
}

}  // namespace
}  // namespace mangrove::apiserver
