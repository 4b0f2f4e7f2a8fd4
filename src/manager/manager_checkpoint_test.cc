// A Flink job through a running manager: asked to save, suspended, saved, gone and running again; also
// when the manager is killed in between.
#include <gtest/gtest.h>

#include "manager/controllers/checkpoint/operators.h"
#include "manager/manager_test_support.h"

namespace mangrove::manager {
namespace {

using namespace testing;

class SavingJobs : public ManagerTest {
 protected:
  void deployment(const std::string& status) {
    const auto truth = api.truth(kFlinkKind);
    json::Value job = truth.contains("ns/wc")
                          ? *json::parse(truth.at("ns/wc"))
                          : *json::parse(R"({"spec":{"job":{"state":"running"}}})");
    job.as_object()["status"] = *json::parse(status);
    api.put(kFlinkKind, "ns", "wc", json::write(job));
  }
  void taskManager() {
    const WallTime at = clock.wall();
    api.put(
        kind::kPod, "ns", "tm",
        fmt::format(
            R"({{"metadata":{{"uid":"u-tm","labels":{{"component":"taskmanager","type":)"
            R"("flink-native-kubernetes","app":"wc"}},"annotations":{{"colocation.mangrove.io/checkpoint":)"
            R"("{{\"mode\":\"operator\"}}","colocation.mangrove.io/checkpoint-request":)"
            R"("{{\"at\":\"{0}\",\"notBefore\":\"{0}\",\"deadline\":\"{1}\"}}"}}}},)"
            R"("spec":{{"nodeName":"n1","containers":[{{"name":"c"}}]}},"status":{{"phase":"Running"}}}})",
            formatTime(at), formatTime(at + 120s)));
  }
  void begin() {
    ManagerOptions options;
    ASSERT_TRUE(options.gates.set("CheckpointPreemption=true"));
    start(std::move(options));
    manager->lead();
  }
  json::Value job() const { return *json::parse(api.truth(kFlinkKind).at("ns/wc")); }
  std::string state() const {
    return std::string(job().at("spec").at("job").at("state").as_string());
  }
  bool isHeldBack() const {
    return api.truth(kFlinkKind).at("ns/wc").find("held-back") != std::string::npos;
  }
  bool hasSaved() const {
    return api.truth(kind::kPod).at("ns/tm").find("checkpoint-last") != std::string::npos;
  }
};

TEST_F(SavingJobs, SuspendedSavedAndRunningAgain) {
  deployment(R"({"jobStatus":{"state":"RUNNING"},"lifecycleState":"STABLE"})");
  begin();
  ASSERT_TRUE(settle());
  EXPECT_EQ(state(), "running") << "nobody asked";
  taskManager();
  ASSERT_TRUE(until([&] { return state() == "suspended"; }));
  EXPECT_FALSE(hasSaved());
  deployment(R"({"jobStatus":{"state":"FINISHED"},"lifecycleState":"SUSPENDED"})");
  ASSERT_TRUE(until([&] { return hasSaved(); }));
  api.remove(kind::kPod, "ns", "tm");
  clock.advance(60s);
  ASSERT_TRUE(until([&] { return state() == "running"; }));
  EXPECT_TRUE(isHeldBack()) << "until it runs";
  deployment(R"({"jobStatus":{"state":"RUNNING"},"lifecycleState":"STABLE"})");
  ASSERT_TRUE(until([&] { return !isHeldBack(); }));
}

TEST_F(SavingJobs, ASuccessorLetsItGoOn) {
  deployment(R"({"jobStatus":{"state":"RUNNING"}})");
  taskManager();
  begin();
  ASSERT_TRUE(until([&] { return state() == "suspended"; }));
  manager.reset();  // killed in the middle of the savepoint
  deployment(R"({"jobStatus":{"state":"FINISHED"},"lifecycleState":"SUSPENDED"})");
  api.remove(kind::kPod, "ns", "tm");
  clock.advance(60s);
  begin();
  ASSERT_TRUE(until([&] { return state() == "running"; }));
}

}  // namespace
}  // namespace mangrove::manager
