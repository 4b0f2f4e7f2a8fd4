// Subresources through the whole request path, on a store in memory.
#include "apiserver/subresources/subresources.h"

#include "apiserver/core/test_server.h"
#include "apiserver/schema/crd_kinds.h"

namespace mangrove::apiserver {
namespace {

constexpr const char* kPods = "/api/v1/namespaces/d/pods";
const std::string kPod = std::string(kPods) + "/p";

class SubresourceTest : public testing::ServerFixture {
 protected:
  void SetUp() override {
    ServerFixture::SetUp();
    serveSubresources(*server_, *context_, nullptr);
  }
  void createPod(const std::string& name = "p", const std::string& spec = "") {
    auto made =
        ask("POST", kPods,
            R"({"metadata":{"name":")" + name +
                R"(","labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"i:1",)"
                R"("resources":{"requests":{"cpu":"1"}}}])" +
                spec + "}}");
    ASSERT_EQ(made.status, 201) << made.body;
  }
  Answer bind(const std::string& pod, const std::string& body) {
    return ask("POST", std::string(kPods) + "/" + pod + "/binding", body);
  }
  void run(const std::string& pod, const std::string& ready = "True") {
    auto done = merge(std::string(kPods) + "/" + pod + "/status",
                      R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":")" +
                          ready + R"("}]}})");
    ASSERT_EQ(done.status, 200) << done.body;
  }
  void budget(const std::string& name, const std::string& status, const std::string& spec = "") {
    auto made = ask("POST", kBudgets,
                    R"({"metadata":{"name":")" + name +
                        R"("},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"web"}})" +
                        spec + "}}");
    ASSERT_EQ(made.status, 201) << made.body;
    auto set =
        merge(std::string(kBudgets) + "/" + name + "/status", R"({"status":)" + status + "}");
    ASSERT_EQ(set.status, 200) << set.body;
  }
  Answer evict(const std::string& extra = "", const std::string& query = "") {
    return ask(
        "POST", kPod + "/eviction" + query,
        R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"})" + extra + "}");
  }
  static constexpr const char* kBudgets = "/apis/policy/v1/namespaces/d/poddisruptionbudgets";
};

TEST_F(SubresourceTest, BindingAssignsAPodOnce) {
  createPod();
  auto bound = bind("p", R"({"metadata":{"name":"p","annotations":{"a":"1"},"labels":{"l":"2"}},)"
                         R"("target":{"kind":"Node","name":"n1"}})");
  ASSERT_EQ(bound.status, 201) << bound.body;
  EXPECT_EQ(at(bound, "/status"), "Success");
  auto pod = ask("GET", kPod);
  EXPECT_EQ(at(pod, "/spec/nodeName"), "n1");
  EXPECT_EQ(at(pod, "/metadata/annotations/a"), "1");
  EXPECT_EQ(at(pod, "/metadata/labels/l"), "2");
  EXPECT_EQ(at(pod, "/metadata/labels/app"), "web");
  EXPECT_EQ(at(pod, "/status/conditions/0/type"), "PodScheduled");
  EXPECT_EQ(at(pod, "/status/conditions/0/status"), "True");
  auto again = bind("p", R"({"target":{"name":"n2"}})");
  EXPECT_EQ(again.status, 409);
  EXPECT_NE(again.body.find("already assigned to node"), std::string::npos) << again.body;
}

TEST_F(SubresourceTest, BindingRefuses) {
  createPod();
  createPod("gated", R"(,"schedulingGates":[{"name":"x.io/y"}])");
  struct Row {
    const char *pod, *body;
    int status;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"none", R"({"target":{"name":"n1"}})", 404},
           {"p", R"({"metadata":{"uid":"other"},"target":{"name":"n1"}})", 409},
           {"p", R"({"metadata":{"resourceVersion":"1"},"target":{"name":"n1"}})", 409},
           {"p", R"({"metadata":{"name":"q"},"target":{"name":"n1"}})", 400},
           {"p", R"({"metadata":{"namespace":"e"},"target":{"name":"n1"}})", 400},
           {"p", R"({"target":{}})", 422},
           {"p", R"({})", 422},
           {"p", R"({"target":{"kind":"Pod","name":"n1"}})", 422},
           {"p", R"([])", 400},
           {"p", "", 400},
           {"gated", R"({"target":{"name":"n1"}})", 409},
       }) {
    auto answer = bind(row.pod, row.body);
    EXPECT_EQ(answer.status, row.status) << row.body << "\n" << answer.body;
  }
  EXPECT_EQ(ask("POST", kPod + "/binding?dryRun=All", R"({"target":{"name":"n1"}})").status, 201);
  EXPECT_EQ(at(ask("GET", kPod), "/spec/nodeName"), "none");
}

TEST_F(SubresourceTest, BindingsCanBePostedToTheirOwnPath) {
  createPod();
  auto bound = ask("POST", "/api/v1/namespaces/d/bindings",
                   R"({"metadata":{"name":"p"},"target":{"name":"n1"}})");
  EXPECT_EQ(bound.status, 201) << bound.body;
  EXPECT_EQ(at(ask("GET", kPod), "/spec/nodeName"), "n1");
}

TEST_F(SubresourceTest, EvictionWithoutABudgetDeletes) {
  createPod("p", R"(,"nodeName":"n1")");
  run("p");
  EXPECT_EQ(evict("", "?dryRun=All").status, 201);
  EXPECT_EQ(at(ask("GET", kPod), "/metadata/deletionTimestamp"), "none");
  EXPECT_EQ(evict(R"(,"deleteOptions":{"preconditions":{"uid":"other"}})").status, 409);
  auto gone = evict(R"(,"deleteOptions":{"gracePeriodSeconds":7})");
  EXPECT_EQ(gone.status, 201) << gone.body;
  auto pod = ask("GET", kPod);
  EXPECT_EQ(at(pod, "/metadata/deletionGracePeriodSeconds"), "7");
  EXPECT_NE(pod.body.find("EvictionByEvictionAPI"), std::string::npos);
}

TEST_F(SubresourceTest, EvictionChargesTheBudget) {
  createPod("p", R"(,"nodeName":"n1")");
  run("p");
  budget("b", R"({"observedGeneration":1,"disruptionsAllowed":1,"desiredHealthy":1,)"
              R"("currentHealthy":2,"expectedPods":2})");
  EXPECT_EQ(evict("", "?dryRun=All").status, 201);
  auto path = std::string(kBudgets) + "/b";
  EXPECT_EQ(at(ask("GET", path), "/status/disruptionsAllowed"), "1");
  EXPECT_EQ(evict().status, 201);
  auto after = ask("GET", path);
  EXPECT_EQ(at(after, "/status/disruptionsAllowed"), "0");
  EXPECT_EQ(at(after, "/status/disruptedPods/p"), "2027-01-15T08:00:00Z");
  EXPECT_NE(at(ask("GET", kPod), "/metadata/deletionTimestamp"), "none");
}

TEST_F(SubresourceTest, BudgetsHoldEvictionsBack) {
  struct Row {
    const char *status, *ready, *spec;
    int want;
    const char* text;
  };
  constexpr auto kSpent =
      R"({"observedGeneration":1,"disruptionsAllowed":0,"desiredHealthy":2,"currentHealthy":1,"expectedPods":2})";
  constexpr auto kHealthy =
      R"({"observedGeneration":1,"disruptionsAllowed":0,"desiredHealthy":1,"currentHealthy":1,"expectedPods":2})";
  constexpr auto kOld =
      R"({"observedGeneration":0,"disruptionsAllowed":5,"desiredHealthy":1,"currentHealthy":1,"expectedPods":2})";
  int row = 0;
  for (const Row& r : std::initializer_list<Row>{
           {kSpent, "True", "", 429, "needs 2 healthy pods and has 1 currently"},
           {kOld, "True", "", 429, "still being processed"},
           {kSpent, "False", "", 429, "DisruptionBudget"},
           {kSpent, "False", R"(,"unhealthyPodEvictionPolicy":"AlwaysAllow")", 201, "Success"},
           {kHealthy, "False", "", 201, "Success"},
       }) {
    const std::string name = "b" + std::to_string(row++);
    createPod("p", R"(,"nodeName":"n1")");
    run("p", r.ready);
    budget(name, r.status, r.spec);
    auto answer = evict();
    EXPECT_EQ(answer.status, r.want) << name << answer.body;
    EXPECT_NE(answer.body.find(r.text), std::string::npos) << answer.body;
    EXPECT_EQ(answer.retryAfterSeconds.has_value(), r.status == kOld);
    ask("DELETE", std::string(kBudgets) + "/" + name);
    ask("DELETE", kPod + "?gracePeriodSeconds=0");
  }
}

TEST_F(SubresourceTest, IdlePodsNeedNoBudgetAndTwoBudgetsAreTooMany) {
  createPod();  // pending
  budget("a", R"({"observedGeneration":1,"disruptionsAllowed":0,"desiredHealthy":1,)"
              R"("currentHealthy":0,"expectedPods":1})");
  EXPECT_EQ(evict().status, 201);
  EXPECT_EQ(ask("GET", kPod).status, 404);
  EXPECT_EQ(evict().status, 404);
  createPod("p", R"(,"nodeName":"n1")");
  run("p");
  budget("b", R"({"observedGeneration":1,"disruptionsAllowed":5,"desiredHealthy":1,)"
              R"("currentHealthy":9,"expectedPods":9})");
  EXPECT_EQ(evict().status, 500);
}

constexpr const char* kDeployments = "/apis/apps/v1/namespaces/d/deployments";
constexpr const char* kDeployment =
    R"({"metadata":{"name":"w"},"spec":{"replicas":2,"selector":{"matchLabels":{"app":"w"},)"
    R"("matchExpressions":[{"key":"t","operator":"In","values":["x","y"]}]},"template":{"metadata":)"
    R"({"labels":{"app":"w","t":"x"}},"spec":{"containers":[{"name":"c","image":"i:1"}]}}}})";

TEST_F(SubresourceTest, ScalesADeployment) {
  ASSERT_EQ(ask("POST", kDeployments, kDeployment).status, 201);
  const std::string target = std::string(kDeployments) + "/w/scale";
  auto scale = ask("GET", target);
  ASSERT_EQ(scale.status, 200) << scale.body;
  EXPECT_EQ(at(scale, "/kind"), "Scale");
  EXPECT_EQ(at(scale, "/spec/replicas"), "2");
  EXPECT_EQ(at(scale, "/status/selector"), "app=w,t in (x,y)");
  auto patched = merge(target, R"({"spec":{"replicas":5}})");
  EXPECT_EQ(patched.status, 200) << patched.body;
  EXPECT_EQ(at(patched, "/spec/replicas"), "5");
  auto stale = ask("PUT", target, scale.body);
  EXPECT_EQ(stale.status, 409) << "the version was read before the patch";
  auto fresh = json::parse(patched.body);
  fresh->as_object()["spec"].as_object()["replicas"] = 3;
  EXPECT_EQ(at(ask("PUT", target, json::write(*fresh)), "/spec/replicas"), "3");
  auto deployment = ask("GET", std::string(kDeployments) + "/w");
  EXPECT_EQ(at(deployment, "/spec/replicas"), "3");
  EXPECT_EQ(at(deployment, "/metadata/generation"), "3");
  EXPECT_NE(deployment.body.find("\"subresource\":\"scale\""), std::string::npos);
}

TEST_F(SubresourceTest, ScaleRefuses) {
  ASSERT_EQ(ask("POST", kDeployments, kDeployment).status, 201);
  const std::string target = std::string(kDeployments) + "/w/scale";
  EXPECT_EQ(ask("PUT", target, R"({"spec":{"replicas":-1}})").status, 422);
  EXPECT_EQ(ask("PUT", target, R"({"spec":{"replicas":"3"}})").status, 400);
  EXPECT_EQ(ask("PUT", target, R"({"kind":"Deployment"})").status, 400);
  EXPECT_EQ(ask("PUT", target, R"({"metadata":{"name":"x"}})").status, 400);
  EXPECT_EQ(merge(target, R"({"metadata":{"resourceVersion":"1"}})").status, 409);
  EXPECT_EQ(ask("GET", std::string(kDeployments) + "/none/scale").status, 404);
  EXPECT_EQ(ask("DELETE", target).status, 405);
  EXPECT_EQ(ask("GET", "/api/v1/namespaces/d/configmaps/x/scale").status, 404);
  EXPECT_EQ(at(merge(target + "?dryRun=All", R"({"spec":{"replicas":9}})"), "/spec/replicas"), "9");
  EXPECT_EQ(at(ask("GET", target), "/spec/replicas"), "2");
}

TEST_F(SubresourceTest, ScalesAReplicationController) {
  ASSERT_EQ(ask("POST", "/api/v1/namespaces/d/replicationcontrollers",
                R"({"metadata":{"name":"r"},"spec":{"replicas":1,"selector":{"b":"2","a":"1"},)"
                R"("template":{"metadata":{"labels":{"a":"1","b":"2"}},"spec":{"containers":)"
                R"([{"name":"c","image":"i:1"}]}}}})")
                .status,
            201);
  auto scale = ask("GET", "/api/v1/namespaces/d/replicationcontrollers/r/scale");
  EXPECT_EQ(at(scale, "/status/selector"), "a=1,b=2") << scale.body;
}

constexpr const char* kCrd =
    R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"shops.x.io"},
"spec":{"group":"x.io","scope":"Namespaced","names":{"plural":"shops","singular":"shop","kind":"Shop","listKind":"ShopList"},
"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object",
"x-kubernetes-preserve-unknown-fields":true}},"subresources":{"status":{},"scale":{"specReplicasPath":".spec.size.count",
"statusReplicasPath":".status.count","labelSelectorPath":".status.selector"}}}]}})";

TEST_F(SubresourceTest, ScalesACustomKind) {
  auto kinds = customKinds(json::parse(kCrd)->get_object());
  ASSERT_TRUE(kinds) << kinds.error().text();
  resources_.putCustom("x.io", "shops",
                       {std::make_shared<Resource>(Resource{
                           kinds->kinds[0], Resources::storedName("x.io", "shops"), "x.io/v1"})});
  const std::string shops = "/apis/x.io/v1/namespaces/d/shops";
  ASSERT_EQ(ask("POST", shops,
                R"({"apiVersion":"x.io/v1","kind":"Shop","metadata":{"name":"s"},)"
                R"("spec":{"size":{"count":1}}})")
                .status,
            201);
  merge(shops + "/s/status", R"({"status":{"count":4,"selector":"a=b"}})");
  auto scaled = merge(shops + "/s/scale", R"({"spec":{"replicas":7}})");
  EXPECT_EQ(scaled.status, 200) << scaled.body;
  EXPECT_EQ(at(scaled, "/spec/replicas"), "7");
  EXPECT_EQ(at(scaled, "/status/replicas"), "4");
  EXPECT_EQ(at(scaled, "/status/selector"), "a=b");
  EXPECT_EQ(at(ask("GET", shops + "/s"), "/spec/size/count"), "7");
}

TEST_F(SubresourceTest, ResizesContainers) {
  createPod();
  auto resized = ask(
      "PATCH", kPod + "/resize",
      R"({"spec":{"containers":[{"name":"c","image":"other","resources":{"requests":{"cpu":"2"}}}]}})",
      "application/strategic-merge-patch+json");
  ASSERT_EQ(resized.status, 200) << resized.body;
  EXPECT_EQ(at(resized, "/spec/containers/0/resources/requests/cpu"), "2");
  EXPECT_EQ(at(resized, "/spec/containers/0/image"), "i:1") << "only resources change here";
  EXPECT_NE(resized.body.find("\"subresource\":\"resize\""), std::string::npos);
  EXPECT_EQ(at(ask("GET", kPod + "/resize"), "/kind"), "Pod");
  EXPECT_EQ(ask("PATCH", kPod + "/resize",
                R"({"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"-2"}}}]}})",
                "application/strategic-merge-patch+json")
                .status,
            422);
  auto dry = ask("PATCH", kPod + "/resize?dryRun=All",
                 R"({"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"3"}}}]}})",
                 "application/strategic-merge-patch+json");
  EXPECT_EQ(at(dry, "/spec/containers/0/resources/requests/cpu"), "3") << dry.body;
  EXPECT_EQ(at(ask("GET", kPod), "/spec/containers/0/resources/requests/cpu"), "2");
  EXPECT_EQ(at(ask("GET", kPod), "/metadata/generation"), "2");
  EXPECT_EQ(merge(kPod + "/resize", R"({"metadata":{"resourceVersion":"1"}})").status, 409);
}

TEST_F(SubresourceTest, AddsEphemeralContainersOnly) {
  createPod();
  auto added = ask("PATCH", kPod + "/ephemeralcontainers",
                   R"({"spec":{"ephemeralContainers":[{"name":"dbg","image":"sh:1"}]}})",
                   "application/strategic-merge-patch+json");
  ASSERT_EQ(added.status, 200) << added.body;
  EXPECT_EQ(at(added, "/spec/ephemeralContainers/0/name"), "dbg");
  auto removed = merge(kPod + "/ephemeralcontainers", R"({"spec":{"ephemeralContainers":[]}})");
  EXPECT_EQ(removed.status, 422) << removed.body;
}

TEST_F(SubresourceTest, SaysThatNobodyRunsPodsHere) {
  createPod();
  for (const char* part : {"log", "exec?command=ls", "attach", "portforward"}) {
    auto answer = ask("GET", kPod + "/" + part);
    EXPECT_EQ(answer.status, 501) << answer.body;
    EXPECT_NE(answer.body.find("no node runner"), std::string::npos) << answer.body;
  }
  EXPECT_EQ(ask("GET", std::string(kPods) + "/none/log").status, 404);
}

}  // namespace
}  // namespace mangrove::apiserver
