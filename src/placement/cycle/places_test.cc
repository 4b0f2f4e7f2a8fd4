// The places kept for gangs, quotas, reservations and devices: a plugin that is none of them uses
// each of them once.
#include <gtest/gtest.h>

#include "placement/plugins/registry.h"
#include "placement/testing/lab.h"

namespace mangrove::placement {
namespace {

// What the plugin under test does, and what it was asked.
struct Wishes {
  bool waits = false;
  std::optional<api::Uid> next;
  std::vector<std::string> group;       // pods of a whole-group cycle, in order
  std::vector<std::string> groupNodes;  // and where they are to go
  std::string only;                     // node
  std::string refuses;                  // afterPrepare
  int64_t gives = 0;                    // milli-cores of reserved room on every node
  std::string failsToReserve;           // pod
  std::string reserveSays = "nothing left";
  std::vector<std::string> log;
  Cluster* cluster = nullptr;
  WaitingPods* pods = nullptr;
  std::map<std::string, PodPtr> seen;
};
Wishes* wishes = nullptr;

std::string nameOf(const PodPtr& pod) {
  return pod->pod->meta.name.str();
}

class Dummy final : public Plugin,
                    public Transactional,
                    public GroupWise,
                    public Transforming,
                    public Suggesting {
 public:
  std::string_view name() const override { return "Dummy"; }
  Transactional* transactional() override { return this; }
  GroupWise* groupWise() override { return this; }
  Transforming* transforming() override { return this; }
  Suggesting* suggesting() override { return this; }
  Hint hint(const ClusterEvent&, const PodInfo&) override { return Hint::kQueue; }

  Result<> reserve(const Decision& d) override {
    wishes->log.push_back("reserve " + nameOf(d.pod));
    if (nameOf(d.pod) == wishes->failsToReserve)
      return fail(mangrove::Code::kUnavailable, "{}", wishes->reserveSays);
    return {};
  }
  void unreserve(const Decision& d) override {
    wishes->log.push_back("unreserve " + nameOf(d.pod));
  }
  PodVerdict permit(const Decision& d) override {
    wishes->seen[nameOf(d.pod)] = d.pod;
    PodVerdict out;
    if (wishes->waits) out.kind = PodVerdict::Kind::kWait;
    out.longest = std::chrono::seconds(30);
    return out;
  }
  Result<> preBind(const Decision& d, BindNotes& notes) override {
    notes.annotations.emplace_back("dummy", nameOf(d.pod));
    return {};
  }
  void bound(const Decision& d) override { wishes->log.push_back("bound " + nameOf(d.pod)); }

  std::optional<api::Uid> nextPod() override { return std::exchange(wishes->next, std::nullopt); }
  std::optional<GroupTask> group(const api::Pod& pod) override {
    if (wishes->group.empty() || pod.meta.name.view() != wishes->group[0]) return std::nullopt;
    GroupTask out{"dummies", {}, {static_cast<int32_t>(wishes->group.size())}};
    for (size_t i = 0; i < wishes->group.size(); i++)
      out.members.push_back({wishes->seen.at(wishes->group[i])->pod->meta.uid, 0,
                             wishes->cluster->table.find(wishes->groupNodes[i])});
    return out;
  }
  void afterFailure(const PodPtr& pod, const Diagnosis&) override {
    wishes->log.push_back("failed " + nameOf(pod));
  }

  PodPtr beforeFilters(const PodPtr& pod) override {
    wishes->seen[nameOf(pod)] = pod;
    wishes->log.push_back("before " + nameOf(pod));
    return nullptr;
  }
  PodVerdict afterPrepare(const PodPlan&, const PodPtr&) override {
    if (wishes->refuses.empty()) return {};
    PodVerdict out = PodVerdict::refuse(PodVerdict::Kind::kUnresolvable, wishes->refuses);
    out.plugin = "Dummy";
    return out;
  }
  void restore(const PodPlan&, Row row) override {
    wishes->cluster->table.lend(row, kCpuId, wishes->gives);
  }
  void unrestore(const PodPlan&, Row row) override {
    wishes->cluster->table.lend(row, kCpuId, -wishes->gives);
  }

  Row onlyNode(const PodPlan&, const api::Pod&) override {
    return wishes->only.empty() ? kNoRow : wishes->cluster->table.find(wishes->only);
  }
};

Result<std::unique_ptr<Plugin>> makeDummy(const json::Value&, PluginHandle handle) {
  wishes->cluster = &handle.cluster;
  wishes->pods = handle.pods;
  return std::make_unique<Dummy>();
}

class Places : public ::testing::Test {
 protected:
  Places() {
    wishes = &mine;
    std::vector<PluginEntry> known(pluginEntries().begin(), pluginEntries().end());
    known.push_back({"Dummy", ~uint32_t{0}, &makeDummy});
    SchedulerConfig config = defaultConfig({"default-scheduler"});
    for (auto point : {"preFilter", "reserve", "permit", "preBind", "postBind"})
      config.profiles[0].points[point].push_back({"Dummy", 0});
    lab = std::make_unique<Lab>(config, known);
    for (auto name : {"n1", "n2"})
      lab->node(std::string(R"({"metadata":{"name":")") + name +
                R"("},"status":{"allocatable":{"cpu":"2","memory":"8Gi"}}})");
  }
  ~Places() override { wishes = nullptr; }
  void pod(const std::string& name, const std::string& cpu = "1", int priority = 0) {
    lab->pod(R"({"metadata":{"name":")" + name + R"("},"spec":{"priority":)" +
             std::to_string(priority) +
             R"(,"containers":[{"name":"c","resources":{"requests":{"cpu":")" + cpu + R"("}}}]}})");
  }
  bool logged(std::string_view line) const {
    return std::count(mine.log.begin(), mine.log.end(), line) > 0;
  }
  Wishes mine;
  std::unique_ptr<Lab> lab;
};

TEST_F(Places, permit_holds_the_binding_until_it_is_allowed) {
  mine.waits = true;
  pod("a", "2");
  lab->run();
  EXPECT_EQ(lab->nodeOf("a"), "");
  ASSERT_EQ(mine.pods->waiting().size(), 1u);
  EXPECT_EQ(lab->engine().binding(), 0u);  // nothing is under way
  mine.waits = false;
  pod("b", "2");
  pod("c", "2");
  lab->run();  // the room of the one that waits is taken: only one of two fits
  EXPECT_EQ((lab->nodeOf("b") != "") + (lab->nodeOf("c") != ""), 1);
  mine.pods->allow(mine.seen["a"]->pod->meta.uid, "Dummy");
  lab->run();
  EXPECT_NE(lab->nodeOf("a"), "");
  EXPECT_EQ(lab->annotation("a", "dummy"), "a");
  EXPECT_TRUE(logged("bound a"));
}

TEST_F(Places, permit_can_be_refused_or_time_out) {
  mine.waits = true;
  pod("a");
  lab->run();
  mine.pods->reject(mine.seen["a"]->pod->meta.uid, "Dummy", "the others did not come");
  EXPECT_TRUE(logged("unreserve a"));
  EXPECT_NE(lab->said("a").find("the others did not come"), std::string::npos) << lab->said("a");
  EXPECT_TRUE(mine.pods->waiting().empty());
  mine.pods->activate(mine.seen["a"]->pod->meta.uid);
  lab->run();
  EXPECT_EQ(mine.pods->waiting().size(), 1u);
  lab->wait(std::chrono::seconds(31));
  EXPECT_NE(lab->said("a").find("timeout after waiting at plugin Dummy"), std::string::npos)
      << lab->said("a");
  lab->removePod("a");
  EXPECT_TRUE(mine.pods->waiting().empty());
}

TEST_F(Places, waiting_pods_are_preempted_without_a_deletion) {
  mine.waits = true;
  pod("weak1", "2");
  pod("weak2", "2");
  lab->run();
  mine.waits = false;
  lab->takeLog();
  pod("strong", "2", 100);
  lab->run();
  EXPECT_NE(lab->nodeOf("strong"), "");
  for (const auto& line : lab->takeLog()) EXPECT_EQ(line.find("preempted by"), std::string::npos);
  EXPECT_EQ(mine.pods->waiting().size(), 1u);
}

TEST_F(Places, a_group_plugin_names_who_is_next) {
  pod("first", "1", 10);
  pod("second");
  lab->engine().scheduleOne();  // the queue's own choice
  EXPECT_TRUE(mine.seen.contains("first"));
  EXPECT_FALSE(mine.seen.contains("second"));
  pod("third", "1", 10);
  mine.next = lab->find("second")->meta.uid;
  lab->engine().scheduleOne();
  EXPECT_TRUE(mine.seen.contains("second"));
  EXPECT_FALSE(mine.seen.contains("third"));
}

TEST_F(Places, a_whole_group_is_placed_in_one_cycle_or_not_at_all) {
  mine.group = {"g1", "g2"};
  mine.groupNodes = {"n1", "n1"};
  pod("g1", "2", 10);
  pod("g2", "2", 5);
  mine.seen["g2"] = lab->cluster().makeInfo(lab->find("g2"));
  lab->engine().scheduleOne();
  lab->run();
  EXPECT_EQ(lab->nodeOf("g1") + lab->nodeOf("g2"), "");  // n1 has room for one
  EXPECT_TRUE(logged("unreserve g1"));
  EXPECT_TRUE(logged("failed g2"));
  mine.groupNodes = {"n1", "n2"};
  mine.pods->activate(mine.seen["g1"]->pod->meta.uid);
  lab->run();
  EXPECT_EQ(lab->nodeOf("g1"), "n1");
  EXPECT_EQ(lab->nodeOf("g2"), "n2");
}

TEST_F(Places, transformers_see_the_pod_and_give_room_back) {
  pod("big", "3");  // no node has three cores
  lab->run();
  EXPECT_TRUE(logged("before big"));
  EXPECT_EQ(lab->nodeOf("big"), "");
  mine.gives = 1000;
  lab->removePod("big");
  for (auto name : {"a", "b"}) pod(name, "2");
  lab->run();
  pod("reserved", "1");  // both nodes are full but for what is given back
  lab->run();
  EXPECT_NE(lab->nodeOf("reserved"), "") << lab->said("reserved");
  mine.refuses = "not today";
  pod("late", "100m");
  lab->run();
  EXPECT_NE(lab->said("late").find("not today"), std::string::npos) << lab->said("late");
}

TEST_F(Places, one_node_can_be_chosen_without_a_search) {
  for (auto node : {"n2", "n1"}) {
    mine.only = node;
    pod(std::string("p-") + node);
    lab->run();
    EXPECT_EQ(lab->nodeOf(std::string("p-") + node), node);
  }
}

TEST_F(Places, a_failed_reservation_is_undone_and_told) {
  mine.failsToReserve = "a";
  pod("a");
  lab->run();
  EXPECT_EQ(lab->nodeOf("a"), "");
  EXPECT_NE(lab->said("a").find("nothing left"), std::string::npos) << lab->said("a");
}

TEST_F(Places, a_refusal_without_words_is_a_refusal) {
  mine.failsToReserve = "g2";
  mine.reserveSays = "";
  mine.group = {"g1", "g2"};
  mine.groupNodes = {"n1", "n2"};
  pod("g1", "2", 10);
  pod("g2", "2", 5);
  mine.seen["g2"] = lab->cluster().makeInfo(lab->find("g2"));
  lab->run();
  EXPECT_EQ(lab->nodeOf("g1") + lab->nodeOf("g2"), "");
  EXPECT_TRUE(logged("unreserve g1"));
}

}  // namespace
}  // namespace mangrove::placement
