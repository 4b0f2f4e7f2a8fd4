// What the scheduler suggests about pods that found no node (docs/scheduler.md).
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "placement/explain/debug.h"
#include "placement/testing/lab.h"

namespace mangrove::placement {
namespace {

std::string node(std::string_view name, std::string_view cpu, std::string_view disk = "hdd") {
  return fmt::format(
      R"({{"metadata":{{"name":"{}","labels":{{"disk":"{}"}}}},
          "status":{{"allocatable":{{"cpu":"{}","memory":"8Gi","pods":"10"}}}}}})",
      name, disk, cpu);
}

std::string pod(std::string_view name, std::string_view cpu, std::string_view spec,
                std::string_view meta = "") {
  return fmt::format(
      R"({{"metadata":{{"name":"{}"{}}},"spec":{{"containers":[{{"name":"c","resources":{{
          "requests":{{"cpu":"{}"}}}}}}]{}}}}})",
      name, meta, cpu, spec);
}

// A claim "c-<disk>" that is bound to a volume which only nodes with that disk reach.
void addClaim(Lab& lab, std::string_view disk) {
  Storage& storage = lab.cluster().storage;
  storage.volumes.put(
      fmt::format("v-{}", disk),
      std::make_shared<api::PersistentVolume>(*api::decodeText<api::PersistentVolume>(fmt::format(
          R"({{"metadata":{{"name":"v-{0}"}},"spec":{{"capacity":{{"storage":"1Gi"}},
              "nodeAffinity":{{"required":{{"nodeSelectorTerms":[{{"matchExpressions":[
              {{"key":"disk","operator":"In","values":["{0}"]}}]}}]}}}}}},
              "status":{{"phase":"Bound"}}}})",
          disk))));
  storage.claims.put(fmt::format("default/c-{}", disk),
                     std::make_shared<api::PersistentVolumeClaim>(
                         *api::decodeText<api::PersistentVolumeClaim>(fmt::format(
                             R"({{"metadata":{{"name":"c-{0}","namespace":"default","uid":"u-{0}"}},
                  "spec":{{"volumeName":"v-{0}"}},"status":{{"phase":"Bound"}}}})",
                             disk))));
  storage.generation++;
}

std::string volumes(const std::vector<std::string_view>& disks) {
  std::string list;
  for (std::string_view disk : disks)
    list += fmt::format(R"({}{{"name":"{}","persistentVolumeClaim":{{"claimName":"c-{}"}}}})",
                        list.empty() ? "" : ",", disk, disk);
  return fmt::format(R"(,"volumes":[{}])", list);
}

std::string suggested(const Lab& lab, std::string_view name) {
  const std::string said = lab.said(name);
  const size_t at = said.find("Suggestion: ");
  return at == std::string::npos ? "" : said.substr(at);
}

TEST(Suggestion, the_first_one_counts) {
  Diagnosis diagnosis;
  EXPECT_TRUE(diagnosis.suggest(suggestion::kEvictWorkloadSelf, "one"));
  EXPECT_FALSE(diagnosis.suggest(suggestion::kDeleteConflictPvc, "two"));
  diagnosis.nodes = 2;
  diagnosis.reasons = {{"Insufficient cpu", 2}};
  diagnosis.postFilter = "preemption: no.";
  EXPECT_EQ(diagnosis.message(),
            "0/2 nodes are available: 2 Insufficient cpu. preemption: no. Suggestion: {type: "
            "EvictWorkloadSelf, message: one}");
}

TEST(Suggestion, says_that_victims_are_going) {
  Lab lab;
  lab.keepVictims = true;
  lab.node(node("n1", "2"));
  const std::string_view low = R"(,"priority":1,"nodeName":"n1")";
  lab.pod(pod("victim", "2", low));
  lab.pod(pod("vip", "2", R"(,"priority":10)"));
  lab.run();
  EXPECT_EQ(suggested(lab, "vip"), "") << "room was made just now";
  lab.pod(pod("victim", "2", low, R"(,"deletionTimestamp":"2026-03-01T12:00:00Z")"));
  lab.wait(std::chrono::minutes(6));  // it is tried again although nothing has happened
  EXPECT_EQ(lab.said("vip"),
            "0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to a "
            "terminating pod on the nominated node. Suggestion: {type: WaitingVictimReleased, "
            "message: victims on node n1 are being deleted}");
  lab.removePod("victim");
  lab.wait(std::chrono::seconds(3));
  EXPECT_EQ(lab.nodeOf("vip"), "n1");
}

TEST(Suggestion, names_claims_that_no_node_can_serve) {
  struct Row {
    std::vector<std::string_view> disks;  // of the nodes
    std::vector<std::string_view> claims;
    const char *cpu, *suggestion;
  };
  const std::string_view head =
      "Suggestion: {type: DeleteConflictPVC, message: no node reaches the volume(s) of "
      "persistentvolumeclaim(s) ";
  const Row rows[] = {
      {{"hdd", "hdd"}, {"ssd"}, "1", "default/c-ssd}"},
      {{"hdd", "ssd"}, {"hdd", "ssd"}, "1", "default/c-hdd, default/c-ssd}"},  // not together
      {{"hdd"}, {"hdd", "ssd"}, "1", "default/c-ssd}"},
      {{"hdd", "ssd"}, {"ssd"}, "8", ""},  // there is one; it is too small
      {{"hdd"}, {}, "8", ""},
  };
  for (const Row& row : rows) {
    Lab lab;
    for (const char* disk : {"hdd", "ssd"}) addClaim(lab, disk);
    int count = 0;
    for (std::string_view disk : row.disks) lab.node(node(fmt::format("n{}", count++), "4", disk));
    lab.pod(pod("p", row.cpu, volumes(row.claims)));
    lab.run();
    EXPECT_EQ(lab.nodeOf("p"), "");
    EXPECT_EQ(suggested(lab, "p"),
              *row.suggestion ? fmt::format("{}{}", head, row.suggestion) : "");
  }
}

TEST(Suggestion, gives_up_pods_whose_nodes_are_gone) {
  Lab lab;
  lab.node(node("n1", "4"));
  const auto pinned = [](std::string_view to) {
    return fmt::format(
        R"(,"affinity":{{"nodeAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":{{
            "nodeSelectorTerms":[{{"matchFields":[{{"key":"metadata.name","operator":"In",
            "values":["{}"]}}]}}]}}}}}})",
        to);
  };
  lab.pod(pod("lost", "1", pinned("n9")));
  lab.pod(pod("large", "8", pinned("n1")));
  lab.run();
  EXPECT_EQ(suggested(lab, "lost"),
            "Suggestion: {type: EvictWorkloadSelf, message: none of the nodes that plugin(s) "
            "[NodeAffinity] limit the pod to exists}");
  EXPECT_EQ(suggested(lab, "large"), "");
}

TEST(Suggestion, is_part_of_the_diagnosis) {
  Lab lab;
  addClaim(lab, "ssd");
  lab.node(node("n1", "4"));
  lab.pod(pod("p", "1", volumes({"ssd"})));
  const auto info = lab.cluster().makeInfo(lab.find("p"));
  Cycle cycle(*lab.engine().profiles().front(), lab.cluster(), info);
  ASSERT_FALSE(cycle.run());
  cycle.askForAdvice();
  const std::string line = diagnosisLine(cycle, lab.cluster(), *info->pod, WallTime{});
  EXPECT_TRUE(line.ends_with(
      R"("preemptionDiagnosis":null,"suggestion":{"type":"DeleteConflictPVC","message":"no node reaches the volume(s) of persistentvolumeclaim(s) default/c-ssd"}})"))
      << line;
}

}  // namespace
}  // namespace mangrove::placement
