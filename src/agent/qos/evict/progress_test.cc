// Eviction gets on: who was asked counts at once, who may not go is passed over, who has ended is
// nobody, and where nobody answers for long the owner's word decides.
#include <gtest/gtest.h>

#include "agent/memory/strategy.h"
#include "agent/qos/evict/last_resort.h"
#include "agent/qos/evict/strategy.h"
#include "agent/qos/testing/machine_bench.h"
#include "api/wire/decode.h"

namespace mangrove::agent {
namespace {

using std::chrono::seconds;

constexpr int64_t kG = int64_t{1} << 30;

api::Pod podOf(const std::string& name, int priority, const std::string& phase = "Running") {
  return *api::decodeText<api::Pod>(fmt::format(
      R"({{"metadata":{{"name":"{}","uid":"{}","labels":{{"koordinator.sh/qosClass":"BE"}}}},)"
      R"("spec":{{"priority":{},"containers":[{{"name":"c"}}]}},"status":{{"phase":"{}"}}}})",
      name, name, priority, phase));
}

// The one that leaves comes last in the order, and nobody goes in its place.
TEST(EvictionProgress, WhoLeavesCountsWhereverItStands) {
  const api::Pod low = podOf("low", 100), high = podOf("high", 5000);
  std::vector<EvictPod> pods = {{&low, 1.0, Bytes{10 * kG}, false},
                                {&high, 1.0, Bytes{10 * kG}, true}};
  EvictTask task{feature::kBeMemory,
                 true,
                 {{"memory", 8 * kG}},
                 {&pods[0], &pods[1]},
                 [](const EvictPod& one) {
                   return EvictAmounts{{"memory", one.memory.value_or(Bytes{0}).v}};
                 }};
  task.pods = pods;
  EXPECT_TRUE(pickVictims(task).empty());
  task.release["memory"] = 15 * kG;
  ASSERT_EQ(pickVictims(task).size(), 1u);
  EXPECT_EQ(pickVictims(task)[0]->pod, &low);
}

struct Shortage {
  Shortage()
      : lately(std::make_shared<EvictedLately>()),
        bench(MANGROVE_SOURCE_DIR "/test/machines/v1-2core-vm",
              defaultStrategies({.lately = lately})) {
    EXPECT_TRUE(bench.gate("BEMemoryEvict=true"));
    bench.slo(R"("resourceUsedThresholdWithBE":{"enable":true,"memoryEvictThresholdPercent":50})");
    for (const char* name : {"a", "b", "c"})
      bench.pod({.name = name, .tier = "besteffort", .qos = "BE", .priority = name[0]});
    bench.start();
  }
  void fill() {
    const int64_t whole = scene().node()->status.capacity.memory().v;
    for (const char* name : {"a", "b", "c"}) bench.hold(name, whole * 17 / 100);
  }
  Agent& scene() { return bench.scene->agent(); }
  std::vector<std::string> sent() const {
    std::vector<std::string> out;
    for (const Ousting& one : bench.evicted) out.push_back(one.pod->meta.name.str());
    return out;
  }
  std::shared_ptr<EvictedLately> lately;
  testing::MachineBench bench;
};

// One pod suffices; the API takes its time to mark it and the memory is still there.
TEST(EvictionProgress, OneShortageSendsOnePodAway) {
  Shortage test;
  test.bench.seconds(2);
  test.fill();
  test.bench.seconds(60);
  EXPECT_EQ(test.sent(), std::vector<std::string>{"a"});
}

// A disruption budget keeps the first: the second goes.
TEST(EvictionProgress, ARefusedVictimIsPassedOver) {
  Shortage test;
  test.bench.seconds(2);
  test.fill();
  test.bench.seconds(2);
  ASSERT_EQ(test.sent(), std::vector<std::string>{"a"});
  test.lately->refuse(test.bench.evicted[0].pod->meta.uid.str(), test.bench.scene->clock.mono());
  test.bench.seconds(10);
  EXPECT_EQ(test.sent(), (std::vector<std::string>{"a", "b"}));
}

TEST(EvictionProgress, TheApiServersSilenceIsCountedFromTheFirstUnansweredRequest) {
  const MonoTime start{std::chrono::hours(1)};
  LastResort never(Duration::zero());
  never.asked(false, start);
  EXPECT_FALSE(never.isDue(start + std::chrono::hours(9)));
  LastResort resort(std::chrono::minutes(1));
  EXPECT_FALSE(resort.isDue(start)) << "nobody was asked";
  resort.asked(false, start);
  resort.asked(false, start + seconds(50));
  EXPECT_FALSE(resort.isDue(start + seconds(59)));
  EXPECT_TRUE(resort.isDue(start + seconds(60)));
  resort.asked(true, start + seconds(61));
  EXPECT_FALSE(resort.isDue(start + seconds(62))) << "a refusal is an answer";
}

// Remembers what the ladder would be told.
class Listening final : public Strategy {
 public:
  explicit Listening(GiveBackOrders& out) : out_(out) {}
  StrategyInfo info() const override { return {.name = "listening"}; }
  Wishes decide(const Situation& now) override {
    EvictedLately lately;
    if (now.look.slo) out_ = giveBackOrders(now, lately);
    return {};
  }

 private:
  GiveBackOrders& out_;
};

TEST(Ladder, TouchesOnlyPodsThatSayTheyAreBestEffort) {
  GiveBackOrders orders;
  std::vector<std::unique_ptr<Strategy>> one;
  one.push_back(std::make_unique<Listening>(orders));
  testing::MachineBench bench(MANGROVE_SOURCE_DIR "/test/machines/v2-2socket-smt", std::move(one));
  bench.slo(R"("resourceUsedThresholdWithBE":{"enable":true})");
  bench.pod({.name = "job", .tier = "besteffort", .qos = "BE"});
  bench.pod({.name = "kube-proxy", .tier = "besteffort"});
  bench.pod({.name = "keeper", .tier = "besteffort", .qos = "SYSTEM"});
  bench.start();
  bench.seconds(2);
  ASSERT_EQ(orders.batch.size(), 1u);
  EXPECT_EQ(orders.batch[0].cgroup, bench.cgroupOf("job"));
}

}  // namespace
}  // namespace mangrove::agent
