// Profiles of both kinds through a running manager: ClusterColocationProfiles on waiting pods and
// ElasticQuotaProfiles, with what happens when the server refuses.
#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "manager/controllers/colocationprofile/controller.h"
#include "manager/manager_test_support.h"

namespace mangrove::manager {
namespace {

using namespace testing;
using ::testing::HasSubstr;

class WaitingPods : public ManagerTest {
 protected:
  WaitingPods() { api.put(kind::kNamespace, "", "d", "{}"); }

  void profile(const char* name, const std::string& spec, bool managed = true) {
    api.put(
        kind::kClusterColocationProfile, "", name,
        fmt::format(
            R"({{"metadata":{{"generation":1,"labels":{{"config.koordinator.sh/controller-managed":"{}"}}}},"spec":{{"selector":{{"matchLabels":{{"app":"x"}}}},{}}}}})",
            managed, spec));
  }
  void waiting(const char* name, const std::string& app, const std::string& more = "") {
    api.put(
        kind::kPod, "d", name,
        fmt::format(
            R"({{"metadata":{{"uid":"{}","labels":{{"app":"{}"}}}},"spec":{{"containers":[{{"name":"c"}}]{}}},"status":{{"phase":"Pending"}}}})",
            name, app, more));
  }
  // The server's selector for waiting pods works on watches alone here, so pods come after it.
  void startAndLead(double perSecond = 10, double burst = 100) {
    ManagerOptions options;
    ASSERT_TRUE(options.gates.set("ColocationProfileController=true"));
    auto& own = options.own.of<ProfileControllerOptions>();
    own.perSecond = perSecond;
    own.burst = burst;
    start(options);
    manager->lead();
    ASSERT_TRUE(until([&] { return manager->idle(); }));
    ASSERT_TRUE(until([&, calm = 0]() mutable { return ++calm > 100; }));
  }
  std::string label(const char* pod, const char* key) const {
    const auto object = json::parse(api.truth(kind::kPod).at(std::string("d/") + pod));
    const auto& labels = object->at("metadata").at("labels").as_object();
    return labels.contains(key) ? std::string(labels.at(key).as_string()) : "(absent)";
  }
  // Rounds go by, and what they send is answered.
  void rounds(int count) {
    for (int i = 0; i < count; i++) {
      clock.advance(30s);
      ASSERT_TRUE(until([&, calm = 0]() mutable { return ++calm > 30; }));
    }
  }
};

TEST_F(WaitingPods, GetTheirProfilesOnceAndInOnePatch) {
  profile("a", R"("labels":{"from":"a"},"labelSuffixes":{"tier":"-x"})");
  profile("b", R"("labels":{"from":"b"},"qosClass":"BE")");
  profile("c", R"("labels":{"c":"c"})", false);
  startAndLead();
  waiting("w", "x");
  waiting("other", "y");
  waiting("bound", "x", R"(,"nodeName":"n1")");
  ASSERT_TRUE(until([&] {
    if (label("w", "from") == "b") return true;
    clock.advance(1s);
    return false;
  }));
  EXPECT_EQ(label("w", "koordinator.sh/qosClass"), "BE");
  EXPECT_EQ(label("w", "c"), "(absent)");
  EXPECT_EQ(label("other", "from"), "(absent)");
  EXPECT_EQ(label("bound", "from"), "(absent)");
  rounds(1);  // what is under way is answered
  const auto writes = manager->stats().writes;
  const auto version = api.version();
  rounds(3);
  EXPECT_EQ(api.version(), version) << "what was applied is noted";
  EXPECT_EQ(manager->stats().writes, writes);
}

TEST_F(WaitingPods, AreChangedAtABoundedRateAndOnlyByTheLeader) {
  profile("a", R"("labels":{"from":"a"})");
  startAndLead(0.001, 2);
  for (const char* name : {"p1", "p2", "p3", "p4"}) waiting(name, "x");
  const auto changed = [&] {
    int count = 0;
    for (const char* name : {"p1", "p2", "p3", "p4"}) count += label(name, "from") == "a";
    return count;
  };
  rounds(3);
  EXPECT_EQ(changed(), 2);
  bool done = false;
  manager->yield([&] { done = true; });
  ASSERT_TRUE(until([&] { return done; }));
  clock.advance(4000s);
  rounds(2);
  EXPECT_EQ(changed(), 2);
}

class QuotaProfiles : public ManagerTest {
 protected:
  QuotaProfiles() {
    node("n1");
    api.put(kind::kElasticQuotaProfile, "kube-system", "p",
            R"({"spec":{"quotaName":"q","nodeSelector":{}}})");
  }
};

TEST_F(QuotaProfiles, AFailureIsToldAndTriedAgainSoon) {
  auto refusals = std::make_shared<std::atomic<int>>(2);
  api.setHook([refusals](const net::HttpRequest& request) -> std::optional<net::HttpResponse> {
    const bool creates =
        request.method == "POST" && request.target.find("/elasticquotas") != std::string::npos;
    if (!creates || --*refusals < 0) return std::nullopt;
    return net::HttpResponse::json(
        403, R"({"kind":"Status","status":"Failure","message":"not today","code":403})");
  });
  start();
  manager->lead();
  ASSERT_TRUE(until([&] { return !told("CreateQuotaFailed").empty(); }));
  EXPECT_THAT(told("CreateQuotaFailed")[0], HasSubstr("not today"));
  EXPECT_TRUE(until([&] { return api.truth(kind::kElasticQuota).contains("kube-system/q"); }));
}

TEST_F(QuotaProfiles, FollowTheirNodes) {
  start();
  manager->lead();
  const auto min = [&] {
    const auto quotas = api.truth(kind::kElasticQuota);
    const auto quota = quotas.find("kube-system/q");
    if (quota == quotas.end()) return std::string("none");
    return std::string(json::parse(quota->second)->at("spec").at("min").at("cpu").as_string());
  };
  ASSERT_TRUE(until([&] { return min() == "100"; })) << min();
  node("n2");
  ASSERT_TRUE(until([&] {
    clock.advance(100ms);
    return min() == "200";
  })) << min();
  // A selector that cannot be read is told, and the quota stays.
  api.put(
      kind::kElasticQuotaProfile, "kube-system", "p",
      R"({"spec":{"quotaName":"q","nodeSelector":{"matchExpressions":[{"key":"a","operator":"Near"}]}}})");
  EXPECT_TRUE(until([&] { return !told("SelectorInvalid").empty(); }));
  EXPECT_EQ(min(), "200");
}

}  // namespace
}  // namespace mangrove::manager
