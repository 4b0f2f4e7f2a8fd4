// Mistakes that were made once.
#include <gtest/gtest.h>

#include "placement/plugins/registry.h"
#include "placement/testing/lab.h"

namespace mangrove::placement {
namespace {

// Refuses or waits as the test says; nothing of it is about nodes.
struct Mood {
  std::string refuses;  // pods with this name, before any node is looked at
  std::string waits;    // pods with this name, at Permit
  bool wakes = false;   // any event may help
};
Mood* mood = nullptr;

class Moody final : public Plugin, public Transactional {
 public:
  std::string_view name() const override { return "Moody"; }
  Transactional* transactional() override { return this; }
  bool prepares() const override { return true; }
  PodVerdict prepare(const PodPlan&, const api::Pod& pod) override {
    if (pod.meta.name.view() != mood->refuses) return {};
    return PodVerdict::refuse(PodVerdict::Kind::kRefused, "not in the mood");
  }
  PodVerdict permit(const Decision& d) override {
    PodVerdict out;
    if (d.pod->pod->meta.name.view() == mood->waits) out.kind = PodVerdict::Kind::kWait;
    return out;
  }
  Hint hint(const ClusterEvent&, const PodInfo&) override {
    return mood->wakes ? Hint::kQueue : Hint::kSkip;
  }
};
Result<std::unique_ptr<Plugin>> makeMoody(const json::Value&, PluginHandle) {
  return std::make_unique<Moody>();
}

class Faults : public ::testing::Test {
 protected:
  Faults() {
    mood = &mine;
    std::vector<PluginEntry> known(pluginEntries().begin(), pluginEntries().end());
    known.push_back({"Moody", ~uint32_t{0}, &makeMoody});
    SchedulerConfig config = defaultConfig({"default-scheduler"});
    for (auto point : {"preFilter", "permit"})
      config.profiles[0].points[point].push_back({"Moody", 0});
    lab = std::make_unique<Lab>(config, known);
  }
  ~Faults() override { mood = nullptr; }
  void node(const std::string& name, const std::string& cpu = "2") {
    lab->node(R"({"metadata":{"name":")" + name + R"("},"status":{"allocatable":{"cpu":")" + cpu +
              R"(","memory":"8Gi"}}})");
  }
  void pod(const std::string& name, int priority = 0, const std::string& cpu = "2",
           const std::string& meta = "", const std::string& status = "",
           const std::string& spec = "") {
    lab->pod(R"({"metadata":{"name":")" + name + "\"" + meta + R"(},"spec":{"priority":)" +
             std::to_string(priority) + spec +
             R"(,"containers":[{"name":"c","resources":{"requests":{"cpu":")" + cpu + R"("}}}]})" +
             (status.empty() ? "" : R"(,"status":)" + status) + "}");
  }
  std::string log() {
    std::string out;
    for (const auto& line : lab->takeLog()) out += line + "\n";
    return out;
  }

  Mood mine;
  std::unique_ptr<Lab> lab;
};

TEST_F(Faults, who_is_refused_as_a_whole_evicts_nobody_and_is_not_nominated) {
  node("n1");
  pod("weak", 0);
  lab->run();
  mine.refuses = "strong";
  pod("strong", 100);
  lab->run();
  EXPECT_EQ(lab->nodeOf("weak"), "n1");
  EXPECT_TRUE(lab->cluster().nominatedNode(lab->find("strong")->meta.uid).empty());
  EXPECT_EQ(log().find("preempted by"), std::string::npos);
}

TEST_F(Faults, events_while_a_pod_waits_for_permission_are_not_lost) {
  node("n1");
  mine.waits = "a";
  pod("a");
  lab->run();
  ASSERT_EQ(lab->engine().waitingPods().waiting().size(), 1u);
  node("n2");  // what it may need comes while it waits
  mine.wakes = true;
  mine.waits = "";
  lab->engine().waitingPods().reject(lab->find("a")->meta.uid, "Moody", "no");
  const auto sizes = lab->engine().queue().sizes();
  EXPECT_EQ(sizes.pool, 0u);
  EXPECT_EQ(sizes.active + sizes.backoff, 1u);
}

// The condition that a preempting scheduler writes.
constexpr auto kVictim =
    R"({"conditions":[{"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler"}]})";
constexpr auto kDeleting = R"(,"deletionTimestamp":"2026-03-01T12:00:00Z")";

TEST_F(Faults, only_victims_of_schedulers_hold_up_preemption) {
  for (const bool isVictim : {false, true}) {
    lab->removePod("leaving");
    lab->removePod("strong");
    node("n1", "4");
    pod("leaving", 0, "2", kDeleting, isVictim ? kVictim : "{}", R"(,"nodeName":"n1")");
    pod("stays", 0, "2", "", "{}", R"(,"nodeName":"n1")");
    lab->takeLog();
    pod("strong", 100, "2", "", R"({"nominatedNodeName":"n1"})");
    lab->keepVictims = true;
    lab->run();
    EXPECT_EQ(log().find("preempted by") == std::string::npos, isVictim) << isVictim;
  }
}

TEST_F(Faults, a_nominated_node_that_became_impossible_holds_up_nobody) {
  node("n1", "4");
  node("n2", "2");
  pod("leaving", 0, "2", kDeleting, kVictim, R"(,"nodeName":"n1")");
  pod("stays", 0, "2", "", "{}", R"(,"nodeName":"n2")");
  pod("strong", 100, "2", "", R"({"nominatedNodeName":"n1"})",
      R"(,"nodeSelector":{"never":"there"})");
  lab->keepVictims = true;
  lab->run();
  EXPECT_EQ(lab->said("strong").find("terminating pod on the nominated node"), std::string::npos)
      << lab->said("strong");
}

TEST_F(Faults, hints_and_nominations_count_for_pods_that_are_pinned_to_few_nodes) {
  const auto hint = [](const std::string& text) {
    return R"(,"annotations":{"internal.scheduling.koordinator.sh/scheduling-hint":")" + text +
           "\"}";
  };
  for (auto name : {"n1", "n2", "n3", "n4"}) node(name);
  pod("preferred", 0, "1",
      hint(R"({\"nodeNames\":[\"n1\",\"n2\",\"n3\"],\"preferredNodeNames\":[\"n4\",\"n3\"]})"));
  pod("nominated", 0, "1", hint(R"({\"nodeNames\":[\"n1\",\"n2\",\"n4\"]})"),
      R"({"nominatedNodeName":"n4"})");
  pod("both", 0, "1",
      hint(R"({\"nodeNames\":[\"n1\",\"n2\",\"n4\"],\"preferredNodeNames\":[\"n2\"]})"),
      R"({"nominatedNodeName":"n4"})");
  lab->run();
  EXPECT_EQ(lab->nodeOf("preferred"), "n3");
  EXPECT_EQ(lab->nodeOf("nominated"), "n4");
  EXPECT_EQ(lab->nodeOf("both"), "n2");
}

TEST_F(Faults, what_is_not_built_is_said_when_a_pod_is_placed_without_it) {
  node("n1");
  pod("promised", 0, "1",
      R"(,"annotations":{"scheduling.koordinator.sh/reservation-affinity":"{}"})");
  pod("plain", 0, "1");
  lab->run();
  EXPECT_EQ(lab->nodeOf("promised"), "n1");
  const std::string said = log();
  EXPECT_NE(said.find("promised ignored: the pod's annotation "
                      "scheduling.koordinator.sh/reservation-affinity is ignored: plugin "
                      "Reservation"),
            std::string::npos)
      << said;
  EXPECT_EQ(said.find("plain ignored"), std::string::npos);
}

}  // namespace
}  // namespace mangrove::placement
