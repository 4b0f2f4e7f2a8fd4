// The engine end to end on a table-top cluster: placement, messages, queues, preemption.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "placement/explain/debug.h"
#include "placement/testing/lab.h"

namespace mangrove::placement {
namespace {

std::string node(std::string_view name, std::string_view cpu = "4", std::string_view extra = "{}",
                 std::string_view labels = "{}") {
  return fmt::format(
      R"({{"metadata":{{"name":"{0}","labels":{3}}},"spec":{2},
          "status":{{"allocatable":{{"cpu":"{1}","memory":"8Gi","pods":"10"}}}}}})",
      name, cpu, extra, labels);
}

std::string pod(std::string_view name, std::string_view cpu = "1", std::string_view spec = "",
                std::string_view meta = "") {
  return fmt::format(
      R"({{"metadata":{{"name":"{0}"{3}}},"spec":{{"containers":[{{"name":"c","resources":{{
          "requests":{{"cpu":"{1}","memory":"64Mi"}}}}}}]{2}}}}})",
      name, cpu, spec, meta);
}

TEST(Engine, spreads_over_the_emptier_nodes) {
  Lab lab;
  lab.node(node("n1"));
  lab.node(node("n2"));
  lab.pod(pod("a"));
  lab.pod(pod("b"));
  lab.run();
  EXPECT_NE(lab.nodeOf("a"), "");
  EXPECT_NE(lab.nodeOf("b"), "");
  EXPECT_NE(lab.nodeOf("a"), lab.nodeOf("b"));
}

TEST(Engine, says_why_in_kubernetes_words) {
  Lab lab;
  lab.pod(pod("early"));
  lab.run();
  EXPECT_EQ(lab.said("early"), "no nodes available to schedule pods");
  lab.removePod("early");
  lab.node(node("small", "1"));
  lab.node(node("tainted", "8", R"({"taints":[{"key":"k","effect":"NoSchedule"}]})"));
  lab.node(node("cordoned", "8", R"({"unschedulable":true})"));
  lab.pod(pod("big", "6"));
  lab.run();
  EXPECT_EQ(lab.said("big"),
            "0/3 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s), "
            "1 node(s) were unschedulable. preemption: 0/3 nodes are available: 3 Preemption is "
            "not helpful for scheduling.");
  lab.pod(pod("picky", "1", R"(,"nodeSelector":{"disk":"ssd"})"));
  lab.run();
  EXPECT_NE(lab.said("picky").find("1 node(s) didn't match Pod's node affinity/selector"),
            std::string::npos);
}

TEST(Engine, counts_what_it_did) {
  Lab lab;
  lab.node(node("n1", "1"));
  lab.pod(pod("a", "1"));
  lab.pod(pod("b", "1"));
  lab.run();
  lab.wait(std::chrono::seconds(2));
  SchedulerMetrics& metrics = lab.engine().metrics();
  const std::string name = "default-scheduler";
  const auto times = [&](const char* point, const char* status) {
    return metrics.extensionPoint.with({point, status, name}).count();
  };
  EXPECT_EQ(times("PreFilter", "Success"), 2u);
  EXPECT_EQ(times("Filter", "Success"), 1u);
  EXPECT_EQ(times("Filter", "Unschedulable"), 1u);
  EXPECT_EQ(times("Score", "Success"), 1u);
  EXPECT_EQ(times("PostFilter", "Unschedulable"), 1u);
  EXPECT_EQ(times("Reserve", "Success"), 1u);
  EXPECT_EQ(times("PreBind", "Success"), 1u);
  EXPECT_EQ(times("Bind", "Success"), 1u);
  EXPECT_EQ(metrics.scheduleAttempts.with({"scheduled", name}).value(), 1);
  EXPECT_EQ(metrics.scheduleAttempts.with({"unschedulable", name}).value(), 1);
  EXPECT_EQ(metrics.queueIncoming.with({"active", "PodAdd"}).value(), 2);
  EXPECT_EQ(metrics.queueIncoming.with({"unschedulable", "ScheduleAttemptFailure"}).value(), 1);
  EXPECT_EQ(metrics.unschedulablePods.with({"NodeResourcesFit", name}).value(), 1);
  lab.removePod("a");
  lab.run();
  lab.wait(std::chrono::seconds(12));
  lab.run();
  EXPECT_EQ(lab.nodeOf("b"), "n1");
  lab.wait(std::chrono::seconds(1));
  EXPECT_EQ(metrics.unschedulablePods.with({"NodeResourcesFit", name}).value(), 0);
}

TEST(Engine, tries_again_when_a_node_comes_and_not_before) {
  Lab lab;
  lab.node(node("n1", "1"));
  lab.pod(pod("a", "3"));
  EXPECT_EQ(lab.run(), 1u);
  lab.wait(std::chrono::seconds(20));
  EXPECT_EQ(lab.nodeOf("a"), "");
  lab.takeLog();
  lab.node(node("n2", "2"));  // too small: the hint keeps the pod where it is
  EXPECT_EQ(lab.run(), 0u);
  lab.node(node("n3", "4"));
  lab.run();
  EXPECT_EQ(lab.nodeOf("a"), "n3");
}

TEST(Engine, keeps_gated_pods_out_until_the_gate_is_gone) {
  Lab lab;
  lab.node(node("n1"));
  lab.pod(pod("a", "1", R"(,"schedulingGates":[{"name":"hold"}])"));
  EXPECT_EQ(lab.run(), 0u);
  EXPECT_EQ(lab.engine().queue().sizes().gated, 1u);
  lab.pod(pod("a"));
  lab.run();
  EXPECT_EQ(lab.nodeOf("a"), "n1");
}

TEST(Engine, serves_higher_priority_first) {
  Lab lab;
  lab.node(node("n1", "1"));
  lab.pod(pod("low", "1"));
  lab.pod(pod("high", "1", R"(,"priority":100,"preemptionPolicy":"Never")"));
  lab.run();
  EXPECT_EQ(lab.nodeOf("high"), "n1");
  EXPECT_EQ(lab.nodeOf("low"), "");
}

TEST(Engine, preempts_the_least_harmful_node) {
  Lab lab;
  lab.node(node("a", "1"));
  lab.node(node("b", "1"));
  lab.pod(pod("on-a", "1", R"(,"priority":5,"nodeName":"a")"));
  lab.pod(pod("on-b1", "500m", R"(,"priority":3,"nodeName":"b")"));
  lab.pod(pod("on-b2", "500m", R"(,"priority":3,"nodeName":"b")"));
  lab.pod(pod("vip", "1", R"(,"priority":10)"));
  lab.run();
  const auto log = lab.takeLog();
  ASSERT_GE(log.size(), 3u);
  EXPECT_EQ(lab.nodeOf("on-a"), "a");
  EXPECT_EQ(lab.find("on-b1"), nullptr);
  EXPECT_EQ(lab.find("on-b2"), nullptr);
  lab.wait(std::chrono::seconds(3));
  EXPECT_EQ(lab.nodeOf("vip"), "b");
}

TEST(Engine, keeps_room_for_a_nominated_pod) {
  Lab lab;
  lab.keepVictims = true;
  lab.node(node("n1", "2"));
  lab.pod(pod("victim", "2", R"(,"priority":1,"nodeName":"n1")"));
  lab.pod(pod("vip", "2", R"(,"priority":10)"));
  lab.run();
  lab.removePod("victim");
  lab.pod(pod("sneaky", "1", R"(,"priority":5)"));
  lab.wait(std::chrono::seconds(12));
  EXPECT_EQ(lab.nodeOf("vip"), "n1");
  EXPECT_EQ(lab.nodeOf("sneaky"), "");
}

TEST(Engine, keeps_room_for_pods_of_other_schedulers_only_when_asked_and_only_above) {
  struct Case {
    bool gate;
    int priority;  // of the foreign pod; ours has 5
    const char* node;
  };
  for (const auto& [gate, priority, want] :
       {Case{false, 9, "n1"}, Case{true, 9, ""}, Case{true, 5, "n1"}, Case{true, 1, "n1"}}) {
    SchedulerConfig config = defaultConfig({"default-scheduler"});
    config.crossSchedulerNomination = gate;
    Lab lab(config);
    lab.node(node("n1", "2"));
    lab.pod(fmt::format(
        R"({{"metadata":{{"name":"theirs"}},"spec":{{"schedulerName":"other","priority":{},
            "containers":[{{"name":"c","resources":{{"requests":{{"cpu":"2"}}}}}}]}},
            "status":{{"nominatedNodeName":"n1"}}}})",
        priority));
    lab.pod(pod("ours", "1", R"(,"priority":5)"));
    lab.run();
    EXPECT_EQ(lab.nodeOf("ours"), want) << gate << priority;
    lab.removePod("theirs");
    lab.wait(std::chrono::seconds(3));
    EXPECT_EQ(lab.nodeOf("ours"), "n1") << gate << priority;
  }
}

TEST(Engine, times_single_plugins_in_every_tenth_cycle) {
  Lab lab;
  for (const char* name : {"n1", "n2", "n3"}) lab.node(node(name, "64"));
  for (int i = 0; i < 20; i++) lab.pod(pod(fmt::format("p{}", i), "1"));
  lab.run();
  const auto count = [&](const char* plugin, const char* point) {
    return lab.engine().metrics().pluginExecution.with({plugin, point, "Success"}).count();
  };
  EXPECT_EQ(count("NodeResourcesFit", "Filter"), 2u);
  EXPECT_EQ(count("NodeResourcesFit", "Score"), 2u);
  EXPECT_EQ(count("NodeNUMAResource", "Reserve"), 2u);
}

TEST(Engine, dumps_a_diagnosis_in_the_form_of_the_reference) {
  Lab lab;
  for (const char* name : {"n2", "n1"}) {
    lab.node(node(name, "2"));
    lab.pod(pod(fmt::format("on-{}", name), "1", fmt::format(R"(,"nodeName":"{}")", name)));
  }
  lab.node(node("off", "4", R"({"unschedulable":true})"));
  lab.pod(
      pod("big", "2", "", R"(,"labels":{"scheduling.koordinator.sh/questioned-object-key":"j"})"));
  const auto info = lab.cluster().makeInfo(lab.find("big"));
  Cycle cycle(*lab.engine().profiles().front(), lab.cluster(), info);
  ASSERT_FALSE(cycle.run());
  EXPECT_EQ(
      diagnosisLine(cycle, lab.cluster(), *info->pod, WallTime{}),
      R"({"timestamp":"1970-01-01T00:00:00Z","questionedKey":"j","isRootCausePod":true,"scheduleDiagnosis":{"alreadyWaitForBound":0,"nodeFailedDetails":[{"failedPlugin":"NodeResourcesFit","reason":"Insufficient cpu","preemptMightHelp":true,"failedNodes":["n1","n2"]},{"failedPlugin":"NodeUnschedulable","reason":"node(s) were unschedulable","failedNodes":["off"]}]},"preemptionDiagnosis":null})");
}

// The one it wants to be with has room kept on n1 and is not there yet.
TEST(Engine, relies_on_nominated_pods_only_when_asked) {
  for (const bool gate : {false, true}) {
    SchedulerConfig config = defaultConfig({"default-scheduler"});
    config.skipFilterWithNominatedPods = gate;
    Lab lab(config);
    for (const char* name : {"n1", "n2"})
      lab.node(fmt::format(
          R"({{"metadata":{{"name":"{0}","labels":{{"kubernetes.io/hostname":"{0}"}}}},
              "status":{{"allocatable":{{"cpu":"4","memory":"8Gi","pods":"110"}}}}}})",
          name));
    lab.pod(R"({"metadata":{"name":"first","labels":{"app":"a"}},"spec":{"priority":5,
        "schedulingGates":[{"name":"wait"}],"containers":[{"name":"c"}]},
        "status":{"nominatedNodeName":"n1"}})");
    lab.pod(R"({"metadata":{"name":"second"},"spec":{"containers":[{"name":"c"}],
        "affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
        {"topologyKey":"kubernetes.io/hostname","labelSelector":{"matchLabels":{"app":"a"}}}]}}}})");
    lab.run();
    EXPECT_EQ(lab.nodeOf("second"), gate ? "n1" : "") << gate;
    lab.pod(pod("large", "5"));
    lab.run();
    EXPECT_EQ(lab.nodeOf("large"), "");
  }
}

// The server has deleted the victim, but our watch has not told us yet.
TEST(Engine, preempts_once_and_tries_again_when_the_last_victim_is_seen_to_be_gone) {
  Lab lab;
  lab.keepVictims = true;
  lab.node(node("n1", "2"));
  lab.node(node("n2", "2"));
  lab.pod(pod("first", "1", R"(,"priority":1,"nodeName":"n1")"));
  lab.pod(pod("second", "1", R"(,"priority":1,"nodeName":"n1")"));
  lab.pod(pod("other", "1900m", R"(,"priority":20,"nodeName":"n2")"));
  lab.pod(pod("small", "100m", R"(,"priority":20,"nodeName":"n2")"));
  lab.pod(pod("vip", "2", R"(,"priority":10)"));
  lab.run();
  const auto evictions = [&] {
    const auto log = lab.takeLog();
    return std::count_if(log.begin(), log.end(),
                         [](const auto& line) { return line.find(" preempted by ") != line.npos; });
  };
  EXPECT_EQ(evictions(), 2);
  lab.removePod("first");
  lab.removePod("small");
  lab.wait(std::chrono::seconds(3));
  EXPECT_EQ(evictions(), 0);
  EXPECT_EQ(lab.nodeOf("vip"), "");
  lab.removePod("second");
  lab.run();
  EXPECT_EQ(lab.nodeOf("vip"), "n1");
}

TEST(Engine, gives_room_back_when_a_binding_fails_and_tries_again) {
  Lab lab;
  lab.node(node("n1", "1"));
  lab.refuseBindings = true;
  lab.pod(pod("a"));
  lab.run();
  EXPECT_EQ(lab.cluster().podCount(), 0u);
  EXPECT_EQ(lab.said("a"), "the server is away");
  lab.refuseBindings = false;
  lab.wait(std::chrono::seconds(3));
  EXPECT_EQ(lab.nodeOf("a"), "n1");
}

TEST(Engine, ignores_pods_of_other_schedulers_but_counts_them_on_nodes) {
  Lab lab;
  lab.node(node("n1", "1"));
  lab.pod(pod("theirs", "1", R"(,"schedulerName":"other")"));
  EXPECT_EQ(lab.run(), 0u);
  lab.pod(pod("theirs", "1", R"(,"schedulerName":"other","nodeName":"n1")"));
  lab.pod(pod("ours", "1"));
  lab.run();
  EXPECT_EQ(lab.nodeOf("ours"), "");
}

TEST(Engine, frees_the_room_of_finished_pods) {
  Lab lab;
  lab.node(node("n1", "1"));
  lab.pod(pod("a"));
  lab.run();
  EXPECT_EQ(lab.nodeOf("a"), "n1");
  lab.pod(pod("b"));
  lab.run();
  EXPECT_EQ(lab.nodeOf("b"), "");
  lab.pod(R"({"metadata":{"name":"a"},"spec":{"nodeName":"n1","containers":[{"name":"c"}]},
              "status":{"phase":"Succeeded"}})");
  lab.wait(std::chrono::seconds(3));
  EXPECT_EQ(lab.nodeOf("b"), "n1");
}

TEST(Engine, spreads_hard_over_zones) {
  Lab lab;
  const auto zone = [](std::string_view z) {
    return fmt::format(R"({{"topology.kubernetes.io/zone":"{}"}})", z);
  };
  lab.node(node("a1", "64", "{}", zone("a")));
  lab.node(node("a2", "64", "{}", zone("a")));
  lab.node(node("b1", "4", "{}", zone("b")));
  for (int i = 0; i < 6; i++)
    lab.pod(pod(fmt::format("p{}", i), "500m",
                R"(,"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":
                "topology.kubernetes.io/zone","whenUnsatisfiable":"DoNotSchedule",
                "labelSelector":{"matchLabels":{"app":"x"}}}])",
                R"(,"labels":{"app":"x"})"));
  lab.run();
  int onB = 0;
  for (int i = 0; i < 6; i++) onB += lab.nodeOf(fmt::format("p{}", i)) == "b1";
  EXPECT_EQ(onB, 3);
}

TEST(Engine, keeps_anti_affine_pods_apart) {
  Lab lab;
  for (auto name : {"n1", "n2"})
    lab.node(node(name, "8", "{}", fmt::format(R"({{"kubernetes.io/hostname":"{}"}})", name)));
  const std::string_view apart =
      R"(,"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
          {"topologyKey":"kubernetes.io/hostname","labelSelector":{"matchLabels":{"app":"x"}}}]}})";
  for (auto name : {"a", "b", "c"}) lab.pod(pod(name, "1", apart, R"(,"labels":{"app":"x"})"));
  lab.run();
  EXPECT_NE(lab.nodeOf("a"), lab.nodeOf("b"));
  EXPECT_EQ(lab.nodeOf("c"), "");
  EXPECT_EQ(lab.said("c"),
            "0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules. preemption: "
            "0/2 nodes are available: 2 No preemption victims found for incoming pod.");
  // Existing pods' rules count for pods that have none themselves.
  lab.pod(pod("plain", "1", "", R"(,"labels":{"app":"x"})"));
  lab.run();
  EXPECT_NE(lab.said("plain").find("2 node(s) didn't satisfy existing pods anti-affinity rules"),
            std::string::npos);
}

}  // namespace
}  // namespace mangrove::placement
