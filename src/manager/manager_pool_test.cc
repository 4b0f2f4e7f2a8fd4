// Fences of all nodes and moves of services that suffer, from their objects to what is written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/interference/fences.h"
#include "api/interference/report.h"
#include "manager/gates.h"
#include "manager/manager_test_support.h"

namespace mangrove::manager {
namespace {

using namespace testing;
using ::testing::HasSubstr;

const std::string kKey = "Xeon|shop/web|v1|2.0";

class InterferencePoolTest : public ManagerTest {
 protected:
  void fences(const std::string& node, int samples) {
    api::FenceBook book;
    for (int i = 0; i < samples; ++i)
      book.learn(kKey, 2, 150, {{"cpi", 1.8 + 0.01 * (i % 5)}}, clock.wall());
    const api::InterferenceFencesSpec spec{.node = node, .book = json::write(book.state())};
    api.put(api::kind::kInterferenceFences, "", api::nodeFencesName(node),
            json::write(json::Object{{"spec", toJson(spec)}}));
  }
  std::string pooled() const {
    const auto truth = api.truth(api::kind::kInterferenceFences);
    const auto found = truth.find(api::workloadFencesName(kKey));
    return found == truth.end() ? "" : found->second;
  }
  void pod(const std::string& name, const std::string& replicaSet) {
    api.put(kind::kPod, "shop", name,
            fmt::format(R"({{"metadata":{{"uid":"{}","ownerReferences":[{{"apiVersion":"apps/v1",)"
                        R"("kind":"ReplicaSet","name":"r","uid":"{}","controller":true}}]}},)"
                        R"("spec":{{"nodeName":"n1","containers":[{{"name":"c"}}]}},)"
                        R"("status":{{"phase":"Running"}}}})",
                        name, replicaSet));
  }
  void suffering(const std::string& victim) {
    api.put(api::kind::kInterferenceReport, "shop", victim + "-1",
            fmt::format(R"({{"spec":{{"node":"n1","victim":"shop/{}","victimUID":"{}",)"
                        R"("signal":"latency","resource":"unknown","start":"{}"}},)"
                        R"("status":{{"severity":1,"observed":2,"fence":1,"suspects":[],)"
                        R"("actions":[],"moveVictim":true}}}})",
                        victim, victim, formatTime(clock.wall())));
  }
  ManagerOptions on() {
    ManagerOptions options;
    EXPECT_TRUE(options.gates.set("InterferencePool=true"));
    return options;
  }
};

TEST_F(InterferencePoolTest, AddsUpWhatNodesKnow) {
  node("n1");
  node("n2");
  fences("n1", 40);
  fences("n2", 40);
  fences("gone", 40);
  start(on());
  manager->lead();
  ASSERT_TRUE(until([&] { return !pooled().empty(); }));
  EXPECT_THAT(pooled(), HasSubstr("\"nodes\":2"));
  EXPECT_THAT(pooled(), HasSubstr("shop/web"));
  ASSERT_TRUE(until([&] {
    return api.truth(api::kind::kInterferenceFences).count(api::nodeFencesName("gone")) == 0;
  })) << "a node that left takes its book along";
}

TEST_F(InterferencePoolTest, AsksTheDeschedulerToMoveAServiceWithOtherReplicas) {
  node("n1");
  pod("web-a", "rs");
  pod("web-b", "rs");
  pod("single", "other");
  suffering("web-a");
  suffering("single");
  start(on());
  manager->lead();
  ASSERT_TRUE(until([&] { return api.truth(kind::kPodMigrationJob).size() == 1; }));
  EXPECT_THAT(api.truth(kind::kPodMigrationJob).begin()->second, HasSubstr("\"web-a\""));
  ASSERT_TRUE(until([&] { return !told("VictimNotMoved").empty(); }));
  EXPECT_THAT(told("VictimNotMoved").at(0), HasSubstr("no other replica"));
}

}  // namespace
}  // namespace mangrove::manager
