// A transaction leaves everything as it was: amounts, CPUs, load, nominations and the log.
#include "placement/cycle/transaction.h"

#include <gtest/gtest.h>

#include "placement/cycle/cycle.h"
#include "placement/testing/lab.h"

namespace mangrove::placement {
namespace {

std::string podText(const std::string& name, const std::string& cpu, const std::string& more = "") {
  return R"({"metadata":{"name":")" + name +
         R"(","labels":{"koordinator.sh/qosClass":"LSR"}},"spec":{)" + more +
         R"("priorityClassName":"koord-prod","priority":9500,"containers":[{"name":"c","resources":{
         "requests":{"cpu":")" +
         cpu + R"(","memory":"1Gi"}}}]}})";
}

class Transactions : public ::testing::Test {
 protected:
  Transactions() {
    for (auto name : {"n1", "n2"}) {
      lab.node(std::string(R"({"metadata":{"name":")") + name +
               R"("},"status":{"allocatable":{"cpu":"8","memory":"32Gi"}}})");
      lab.cluster().putTopology(name, topology());
    }
    lab.pod(podText("there", "2"));
    lab.run();
    there = lab.cluster().find(lab.find("there")->meta.uid);
  }
  static std::shared_ptr<const api::NodeResourceTopology> topology() {
    std::string detail;
    for (int cpu = 0; cpu < 8; cpu++)
      detail += (cpu ? "," : "") + (R"({"id":)" + std::to_string(cpu) + R"(,"core":)" +
                                    std::to_string(cpu / 2) + R"(,"socket":0,"node":0})");
    json::Object annotations{
        {"node.koordinator.sh/cpu-topology", R"({"detail":[)" + detail + "]}"}};
    auto out = api::decodeText<api::NodeResourceTopology>(
        json::write(json::Object{{"metadata", json::Object{{"annotations", annotations}}}}));
    return std::make_shared<api::NodeResourceTopology>(std::move(*out));
  }
  PodPtr made(const std::string& name, const std::string& cpu) {
    auto pod = api::decodeText<api::Pod>(podText(name, cpu));
    pod->meta.uid = api::Uid(name);
    pod->meta.ns = Interned("default");
    return lab.cluster().makeInfo(std::make_shared<api::Pod>(std::move(*pod)));
  }
  Profile& profile() { return *lab.engine().profiles()[0]; }
  NodeTable& table() { return lab.cluster().table; }
  // What plugins say about the node, with everything they keep.
  std::string seen(std::string_view node) {
    std::string out;
    for (const auto& [plugin, path] :
         {std::pair("LoadAwareScheduling", "node/"), std::pair("NodeNUMAResource", "nodes/")})
      if (auto page = profile().find(plugin)->serve(path + std::string(node)))
        out += json::write(*page);
    for (ResourceId id : {kCpuId, kMemoryId})
      out += " " + std::to_string(table().requested(id)[table().find(node)]);
    return out;
  }
  std::vector<int32_t> columns(const PodPtr& pod) {
    PlanState& state = profile().compiled(pod->cls);
    state.refresh();
    return state.local();
  }

  Lab lab{defaultConfig({"default-scheduler"})};
  PodPtr there;
};

TEST_F(Transactions, rolled_back_leaves_no_trace) {
  const PodPtr a = made("a", "4"), b = made("b", "2");
  const std::string home = there->nodeName.str();
  const auto before = seen("n1") + seen("n2");
  const auto scores = columns(a);
  const uint64_t log = table().now();
  lab.cluster().nominate(a, Interned("n2"));
  const uint64_t nominated = table().now();
  {
    Transaction trial(lab.cluster());
    trial.takeAway(there);
    ASSERT_FALSE(trial.place(profile(), a, table().find("n1")));
    ASSERT_FALSE(trial.place(profile(), b, table().find("n1")));
    EXPECT_NE(seen("n1") + seen("n2"), before);
    EXPECT_NE(columns(a), scores);  // somebody looks meanwhile
    EXPECT_TRUE(lab.cluster().nominatedNode(a->pod->meta.uid).empty());
  }
  EXPECT_EQ(seen("n1") + seen("n2"), before);
  EXPECT_EQ(table().now(), nominated);
  EXPECT_EQ(lab.cluster().nominatedNode(a->pod->meta.uid).view(), "n2");
  lab.cluster().denominate(a->pod->meta.uid);
  EXPECT_EQ(columns(a), scores);
  EXPECT_EQ(there->nodeName.str(), home);
  EXPECT_FALSE(a->assumed);
  EXPECT_GT(nominated, log);
}

TEST_F(Transactions, parts_of_it_are_undone_and_the_rest_stays) {
  const PodPtr a = made("a", "2"), b = made("b", "2");
  const Row n1 = table().find("n1");
  Transaction trial(lab.cluster());
  ASSERT_FALSE(trial.place(profile(), a, n1));
  const std::string withA = seen("n1");
  const auto scores = columns(b);
  const size_t mark = trial.mark();
  ASSERT_FALSE(trial.place(profile(), b, n1));
  EXPECT_NE(columns(b), scores);
  trial.rollbackTo(mark);
  EXPECT_EQ(seen("n1"), withA);
  EXPECT_EQ(columns(b), scores);
  trial.commit();
  EXPECT_EQ(a->row, n1);
  EXPECT_TRUE(a->assumed);
}

TEST_F(Transactions, a_refusal_names_the_plugin_and_stays_without_effect) {
  const PodPtr big = made("big", "8");
  const Row row = there->row;
  const std::string before = seen(table().info(row).name.view());
  const uint64_t log = table().now();
  Transaction trial(lab.cluster());
  const auto refusal = trial.place(profile(), big, row);  // two of its CPUs are taken
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->plugin, "NodeNUMAResource");
  EXPECT_FALSE(refusal->reason.empty());
  EXPECT_EQ(seen(table().info(row).name.view()), before);
  EXPECT_EQ(table().now(), log);
  EXPECT_EQ(big->row, kNoRow);
}

TEST_F(Transactions, a_pod_taken_away_comes_back_with_its_load) {
  const std::string node = there->nodeName.str();
  const std::string before = seen(node);
  Transaction trial(lab.cluster());
  trial.takeAway(there);
  EXPECT_NE(seen(node), before);
  trial.putBack(there);
  EXPECT_EQ(seen(node), before);
  trial.commit();
  EXPECT_EQ(seen(node), before);
}

TEST(Shapes, classes_that_differ_in_labels_and_owners_share_their_columns) {
  Lab lab(defaultConfig({"default-scheduler"}));
  lab.node(R"({"metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"64","memory":"64Gi"}}})");
  for (int i = 0; i < 40; i++)
    lab.pod(R"({"metadata":{"name":"p)" + std::to_string(i) + R"(","labels":{"job":"j)" +
            std::to_string(i) +
            R"("}},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}})");
  lab.run();
  EXPECT_EQ(lab.nodeOf("p39"), "n1");
  const Profile& profile = *lab.engine().profiles()[0];
  EXPECT_GE(profile.plans(), 40u);
  EXPECT_EQ(profile.shapes(), 1u);
}

}  // namespace
}  // namespace mangrove::placement
