#include "apiserver/lifecycle/namespaces.h"

#include "apiserver/lifecycle/test_support.h"

namespace mangrove::apiserver {
namespace {

constexpr const char* kHome = "/api/v1/namespaces/team";
constexpr const char* kTeamMaps = "/api/v1/namespaces/team/configmaps";
constexpr const char* kTeamPods = "/api/v1/namespaces/team/pods";
constexpr const char* kPod = R"({"metadata":{"name":"p"},"spec":{"nodeName":"n1",)"
                             R"("containers":[{"name":"c","image":"i:1"}]}})";

class NamespacesTest : public LifecycleTest {
 protected:
  void SetUp() override {
    LifecycleTest::SetUp();
    EXPECT_EQ(ask("POST", "/api/v1/namespaces", R"({"metadata":{"name":"team"}})").status, 201);
  }
  void createIn(const char* target, const std::string& body) {
    auto made = ask("POST", target, body);
    EXPECT_EQ(made.status, 201) << made.body;
  }
};

TEST_F(NamespacesTest, TheFirstOnesAreThereFromTheStart) {
  for (auto name : kInitialNamespaces) {
    auto home = ask("GET", "/api/v1/namespaces/" + std::string(name));
    EXPECT_EQ(home.status, 200) << name;
    EXPECT_EQ(at(home, "/spec/finalizers/0"), "kubernetes");
    EXPECT_EQ(at(home, "/status/phase"), "Active");
    EXPECT_EQ(at(home, "/metadata/labels/kubernetes.io~1metadata.name"), name);
  }
}

TEST_F(NamespacesTest, AnEmptyOneGoesAtOnce) {
  EXPECT_EQ(ask("DELETE", kHome).status, 200);
  EXPECT_EQ(statusOf(kHome), 404);
}

TEST_F(NamespacesTest, ContentsGoAlong) {
  createIn(kTeamMaps, R"({"metadata":{"name":"a"}})");
  createIn("/apis/coordination.k8s.io/v1/namespaces/team/leases", R"({"metadata":{"name":"l"}})");
  createMap("elsewhere");
  ask("DELETE", kHome);
  EXPECT_EQ(statusOf(kHome), 404);
  EXPECT_EQ(at(ask("GET", "/api/v1/configmaps"), "/items/0/metadata/name"), "elsewhere");
  EXPECT_EQ(at(ask("GET", "/apis/coordination.k8s.io/v1/leases"), "/items/0"), "none");
}

TEST_F(NamespacesTest, PodsHaveTheirGraceAndTheConditionsSaySo) {
  createIn(kTeamPods, kPod);
  createIn(kTeamMaps, R"({"metadata":{"name":"a","finalizers":["x.io/y"]}})");
  EXPECT_EQ(at(ask("DELETE", kHome), "/status/phase"), "Terminating");
  auto home = ask("GET", kHome);
  EXPECT_EQ(condition(home, "NamespaceContentRemaining"), "True") << home.body;
  EXPECT_EQ(condition(home, "NamespaceContentRemaining", "message"),
            "Some resources are remaining: configmaps. has 1 resource instances, pods. has 1 "
            "resource instances");
  EXPECT_EQ(condition(home, "NamespaceFinalizersRemaining", "message"),
            "Some content in the namespace has finalizers remaining: x.io/y in 1 resource "
            "instances");
  EXPECT_EQ(at(ask("GET", std::string(kTeamPods) + "/p"), "/metadata/deletionGracePeriodSeconds"),
            "30");
  ask("DELETE", std::string(kTeamPods) + "/p?gracePeriodSeconds=0");
  EXPECT_EQ(statusOf(kHome), 200);
  ask("PATCH", std::string(kTeamMaps) + "/a", R"({"metadata":{"finalizers":null}})",
      "application/merge-patch+json");
  EXPECT_EQ(statusOf(kHome), 404);
}

TEST_F(NamespacesTest, PodsGoBeforeWhatTheyLeanOn) {
  createIn(kTeamPods, kPod);
  createIn(kTeamMaps, R"({"metadata":{"name":"a"}})");
  ask("DELETE", kHome);
  const std::string map = std::string(kTeamMaps) + "/a";
  EXPECT_EQ(at(ask("GET", map), "/metadata/deletionTimestamp"), "none");
  EXPECT_EQ(statusOf(map), 200);
  ask("DELETE", std::string(kTeamPods) + "/p?gracePeriodSeconds=0");
  EXPECT_EQ(statusOf(map), 404);
  EXPECT_EQ(statusOf(kHome), 404);
}

TEST_F(NamespacesTest, NothingNewInOneThatIsNotThereOrLeaving) {
  auto missing = ask("POST", "/api/v1/namespaces/none/configmaps", R"({"metadata":{"name":"a"}})");
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(at(missing, "/message"), "namespaces \"none\" not found");
  createIn(kTeamPods, kPod);
  ask("DELETE", kHome);
  auto late = ask("POST", kTeamMaps, R"({"metadata":{"name":"a"}})");
  EXPECT_EQ(late.status, 403);
  EXPECT_EQ(at(late, "/message"),
            "configmaps \"a\" is forbidden: unable to create new content in namespace team "
            "because it is being terminated");
  EXPECT_EQ(at(late, "/details/causes/0/reason"), "NamespaceTerminating");
}

TEST_F(NamespacesTest, TheSystemsOwnStay) {
  for (std::string name : {"default", "kube-system", "kube-public"}) {
    auto answer = ask("DELETE", "/api/v1/namespaces/" + name);
    EXPECT_EQ(answer.status, 403);
    EXPECT_EQ(at(answer, "/message"),
              "namespaces \"" + name + "\" is forbidden: this namespace may not be deleted");
  }
  EXPECT_EQ(ask("DELETE", "/api/v1/namespaces/kube-node-lease").status, 200);
}

TEST_F(NamespacesTest, FinalizersOfOthersAreTakenByFinalize) {
  ask("PUT", std::string(kHome) + "/finalize",
      R"({"metadata":{"name":"team"},"spec":{"finalizers":["kubernetes","x.io/y"]}})");
  ask("DELETE", kHome);
  EXPECT_EQ(at(ask("GET", kHome), "/spec/finalizers"), R"(["x.io/y"])");
  auto stale = ask("PUT", std::string(kHome) + "/finalize",
                   R"({"metadata":{"name":"team","resourceVersion":"1"},"spec":{}})");
  EXPECT_EQ(stale.status, 409);
  EXPECT_EQ(ask("PUT", std::string(kHome) + "/finalize", R"({"metadata":{"name":"team"}})").status,
            200);
  EXPECT_EQ(statusOf(kHome), 404);
}

TEST_F(NamespacesTest, ARefusedDeletionIsToldAndTriedAgain) {
  createIn(kTeamMaps, R"({"metadata":{"name":"a"}})");
  closed_ = true;
  ask("DELETE", kHome);
  EXPECT_EQ(condition(ask("GET", kHome), "NamespaceDeletionContentFailure"), "True");
  pass(std::chrono::seconds(1));
  EXPECT_EQ(statusOf(kHome), 200);
  closed_ = false;
  pass(std::chrono::seconds(2));
  EXPECT_EQ(statusOf(kHome), 404);
}

TEST_F(NamespacesTest, AStartFinishesWhatAStopInterrupted) {
  createIn(kTeamMaps, R"({"metadata":{"name":"a"}})");
  context_->observers.clear();
  ask("DELETE", kHome);
  EXPECT_EQ(statusOf(kHome), 200);
  stop();
  start();
  EXPECT_EQ(statusOf(kHome), 404);
}

}  // namespace
}  // namespace mangrove::apiserver
