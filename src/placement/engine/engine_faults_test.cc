// Mistakes that were made once.
#include <set>

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

// Nobody else is told of it, and the weak one would wait five minutes for room that is free.
TEST_F(Faults, a_nomination_that_is_given_up_wakes_those_it_held_back) {
  node("n1", "4");
  const std::string never = R"(,"nodeSelector":{"never":"there"})";
  const char* nominated = R"({"nominatedNodeName":"n1"})";
  pod("strong", 100, "3", "", nominated, never + R"(,"schedulingGates":[{"name":"g"}])");
  pod("weak", 0, "2");
  lab->run();
  EXPECT_EQ(lab->nodeOf("weak"), "");
  pod("strong", 100, "3", "", nominated, never);
  lab->wait(std::chrono::seconds(30));
  EXPECT_EQ(lab->nodeOf("strong"), "");
  EXPECT_EQ(lab->nodeOf("weak"), "n1") << lab->said("weak");
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

TEST_F(Faults, a_provisioner_that_withdraws_its_node_frees_the_pod_at_once) {
  node("n1");
  Storage& storage = lab->cluster().storage;
  auto cls = api::decodeText<api::StorageClass>(
      R"({"metadata":{"name":"slow"},"provisioner":"p","volumeBindingMode":"WaitForFirstConsumer"})");
  storage.classes.put("slow", std::make_shared<api::StorageClass>(std::move(*cls)));
  const auto claim = [&](const std::string& annotations) {
    auto made = api::decodeText<api::PersistentVolumeClaim>(
        R"({"metadata":{"namespace":"default","name":"data","uid":"c1","annotations":{)" +
        annotations +
        R"(}},"spec":{"storageClassName":"slow","resources":{"requests":{"storage":"1Gi"}}}})");
    storage.claims.put("default/data",
                       std::make_shared<api::PersistentVolumeClaim>(std::move(*made)));
    storage.generation++;
    ClusterEvent event;
    event.kind = EventKind::kStorage;
    lab->engine().happened(event);
  };
  claim("");
  lab->bindsClaims = false;
  pod("a", 0, "1", "", "",
      R"(,"volumes":[{"name":"d","persistentVolumeClaim":{"claimName":"data"}}])");
  lab->run();
  ASSERT_TRUE(lab->cluster().find(lab->find("a")->meta.uid)) << lab->said("a");
  claim(R"("volume.kubernetes.io/selected-node":"n1")");
  EXPECT_TRUE(lab->cluster().find(lab->find("a")->meta.uid));
  claim("");
  EXPECT_FALSE(lab->cluster().find(lab->find("a")->meta.uid));
  EXPECT_NE(lab->said("a").find("the provisioner of claim default/data withdrew node n1"),
            std::string::npos)
      << lab->said("a");
}

// Evicting is of no use to one that only lacks what nobody on the node holds.
TEST_F(Faults, a_node_where_nobody_has_to_go_is_no_candidate) {
  node("n1", "4");
  pod("small", 0, "1", "", "{}", R"(,"nodeName":"n1")");
  pod("rival", 50, "3", "", R"({"nominatedNodeName":"n1"})",
      R"(,"schedulingGates":[{"name":"g"}])");
  pod("strong", 40, "3");
  lab->run();
  EXPECT_EQ(log().find("preempted by"), std::string::npos);
  EXPECT_TRUE(lab->cluster().nominatedNode(lab->find("strong")->meta.uid).empty());
}

// Which of equal victims goes is left to chance, and chance begins with the seed.
TEST_F(Faults, the_same_seed_makes_the_same_choices) {
  const auto chosen = [](uint64_t seed) {
    Lab one(defaultConfig({"default-scheduler"}));
    one.engine().seed(seed);
    std::string out;
    for (int i = 0; i < 8; i++) {
      const std::string name = "n" + std::to_string(i);
      one.node(R"({"metadata":{"name":")" + name +
               R"("},"status":{"allocatable":{"cpu":"2","memory":"8Gi"}}})");
      one.pod(
          R"({"metadata":{"name":"weak-)" + name + R"("},"spec":{"nodeName":")" + name +
          R"(","priority":0,"containers":[{"name":"c","resources":{"requests":{"cpu":"2"}}}]}})");
    }
    one.pod(
        R"({"metadata":{"name":"strong"},"spec":{"priority":9,"containers":[{"name":"c","resources":{"requests":{"cpu":"2"}}}]}})");
    one.run();
    return one.nodeOf("strong");
  };
  std::set<std::string> seen;
  for (uint64_t seed = 1; seed <= 12; seed++) {
    seen.insert(chosen(seed));
    EXPECT_EQ(chosen(seed), chosen(seed));
  }
  EXPECT_GT(seen.size(), 1u);
}

}  // namespace
}  // namespace mangrove::placement
