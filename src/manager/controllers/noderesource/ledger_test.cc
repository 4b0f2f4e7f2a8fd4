// From the formula to what is written: views under other names, zones, time windows, steadying, and
// the way back from what stands on a node.
#include <gtest/gtest.h>

#include "api/wire/names.h"
#include "base/number/rng.h"
#include "manager/controllers/noderesource/batch_prepare.h"
#include "manager/controllers/noderesource/node_sync.h"
#include "manager/controllers/noderesource/test_scene.h"
#include "manager/controllers/noderesource/zone_amounts.h"

namespace mangrove::manager {
namespace {

using namespace testing;  // Scene

constexpr int64_t kGb = 1'000'000'000;

// What a write of the plan leaves on the node.
void write(Scene& s, const NodePlan& plan) {
  const NodeOwned after = granted(s.node, plan.wish);
  s.node.status.allocatable = after.allocatable;
  s.node.status.capacity = after.capacity;
  s.node.meta.annotations = after.annotations;
  s.node.meta.labels = after.labels;
}

bool isWorthAWrite(const Scene& s, const NodePlan& plan) {
  const auto rule = syncRule(plan.strategy.strategy, plan.byClock, std::chrono::seconds(10));
  return judgeSync(ownedOf(s.node), granted(s.node, plan.wish), rule).status;
}

int64_t shown(const Scene& s, std::string_view name) {
  return s.node.status.allocatable.amount(name).value();
}

// One ledger under three names: what a pod takes under one is gone under all.
TEST(AliasViews, OneLedger) {
  Placed placed{};
  placed[0].milliCpu = 6000;
  placed[1].milliCpu = 3000;
  const std::vector<std::string> on = {"crane", "katalyst"};
  const auto reports = aliasReports({40000, 0}, placed, on);
  ASSERT_EQ(reports.size(), 3u);
  EXPECT_EQ(reports[0].cpu, 37000);
  EXPECT_EQ(reports[1].cpu, 34);
  EXPECT_EQ(reports[2].cpu, 31000);
  // Off again: what is placed through a view is not sold a second time.
  EXPECT_EQ(aliasReports({40000, 0}, placed, {}).at(0).cpu, 37000);
}

TEST(AliasViews, WrittenOnlyWhenOnAndTakenAwayAfterwards) {
  Scene s = n();
  s.config = configOf(R"("cpuReclaimThresholdPercent":65,"aliasViews":["crane"])");
  const auto on = granted(s.node, s.plan().wish);
  EXPECT_EQ(on.allocatable.amount("gocrane.io/cpu"), Quantity::of(25));
  s.node.status.allocatable = on.allocatable;
  s.node.meta.annotations = on.annotations;
  s.config = configOf(R"("cpuReclaimThresholdPercent":65)");
  EXPECT_FALSE(granted(s.node, s.plan().wish).allocatable.has("gocrane.io/cpu"));
  // A name that Crane itself wrote is not ours to take.
  s.node.meta.annotations.erase("mangrove.io/alias-views");
  EXPECT_TRUE(granted(s.node, s.plan().wish).allocatable.has("gocrane.io/cpu"));
}

// A name is taken off the node at once, what was placed under it stays in the books until it ends.
TEST(AliasViews, SwitchedOffViewsStillCountWhatTheyPlaced) {
  Scene s = n();
  s.config = configOf(R"("cpuReclaimThresholdPercent":65,"aliasViews":["crane"])");
  s.pod("crane", kBe, R"("gocrane.io/cpu":"3")");
  write(s, s.plan());
  EXPECT_EQ(shown(s, "kubernetes.io/batch-cpu"), 22000);
  s.config = configOf(R"("cpuReclaimThresholdPercent":65)");
  write(s, s.plan());
  EXPECT_FALSE(s.node.status.allocatable.has("gocrane.io/cpu"));
  write(s, s.plan());
  EXPECT_EQ(shown(s, "kubernetes.io/batch-cpu"), 22000);
  s.pods.pop_back();
  write(s, s.plan());
  EXPECT_EQ(shown(s, "kubernetes.io/batch-cpu"), 25000);
  EXPECT_FALSE(s.node.meta.annotations.has(kWrittenViews));
}

// A pod of 1 % of the ledger: too little for the reference's rule, and still all other views fall
// in the same write. Rises may wait.
TEST(AliasViews, ADropIsWrittenAtOnceAndInAllViews) {
  Scene s = n();
  s.config = configOf(
      R"("cpuReclaimThresholdPercent":65,"memoryReclaimThresholdPercent":65,"aliasViews":["crane","katalyst","caster"])");
  write(s, s.plan());
  s.pod("batch", kBe, R"("kubernetes.io/batch-cpu":"250")");
  const NodePlan plan = s.plan();
  EXPECT_TRUE(isWorthAWrite(s, plan));
  write(s, plan);
  EXPECT_EQ(shown(s, "kubernetes.io/batch-cpu"), 25000);
  EXPECT_EQ(shown(s, "gocrane.io/cpu"), 24);
  EXPECT_EQ(shown(s, "resource.katalyst.kubewharf.io/reclaimed_millicpu"), 24750);
  EXPECT_EQ(shown(s, "caster.io/colocation-cpu"), 24750);
  s.pods.pop_back();
  EXPECT_FALSE(isWorthAWrite(s, s.plan()));
}

// Pods come and go through all names, the node's usage moves, and the scheduler goes by what is
// written: a placement never brings the sum above the ledger of its moment.
TEST(AliasViews, NeverOversellThroughTheSyncRule) {
  Rng rng(23);
  const std::string_view names[] = {"kubernetes.io/batch-cpu", "gocrane.io/cpu",
                                    "resource.katalyst.kubewharf.io/reclaimed_millicpu",
                                    "caster.io/colocation-cpu"};
  int placedPods = 0, heldBack = 0;
  for (int round = 0; round < 60; round++) {
    Scene s;
    s.config = configOf(
        R"("cpuReclaimThresholdPercent":65,"memoryReclaimThresholdPercent":65,"aliasViews":["crane","katalyst","caster"])");
    write(s, s.plan());
    for (int step = 0; step < 40; step++) {
      const auto what = rng.below(10);
      const size_t view = rng.below(4);
      if (what == 0) {
        s.system(std::to_string(rng.below(30)), "12G");
      } else if (what == 1 && !s.pods.empty()) {
        s.pods.erase(s.pods.begin() + static_cast<int64_t>(rng.below(s.pods.size())));
      } else {
        const int64_t unit = view == 1 ? 1000 : 1;
        const int64_t wanted = static_cast<int64_t>(1 + rng.below(view == 1 ? 4 : 4000));
        const auto placed = s.plan().placed;
        if (placed[view].milliCpu / unit + wanted > shown(s, names[view])) continue;
        s.pod("p" + std::to_string(step), kBe,
              "\"" + std::string(names[view]) + "\":\"" + std::to_string(wanted) + "\"");
        placedPods++;
        const auto after = s.plan();
        int64_t sum = 0;
        for (const auto& part : after.placed) sum += part.milliCpu;
        ASSERT_LE(sum, after.ledger.milliCpu) << "round " << round << " step " << step;
      }
      const auto plan = s.plan();
      if (isWorthAWrite(s, plan))
        write(s, plan);
      else
        heldBack++;
    }
  }
  EXPECT_GT(placedPods, 300);
  EXPECT_GT(heldBack, 20) << "rises below the threshold wait";
}

TEST(ZoneAmounts, ShareTheLedgerAsTheFormulaSharesTheNode) {
  BatchResult batch;
  batch.milliCpu = 20000;
  batch.memoryBytes = 10 * kGb;
  const auto zone = [](const char* name, int64_t milli, int64_t gb) {
    ZoneBatch out;
    out.zone = name;
    out.terms.capacity = {Quantity::ofMilli(50000), Quantity::of(Bytes{60 * kGb})};
    out.milliCpu = milli;
    out.memory = Quantity::of(Bytes{gb * kGb});
    return out;
  };
  batch.zones = {zone("node-0", 8000, 10), zone("node-1", 12000, 0)};
  const struct {
    Sold ledger;
    int64_t cpu[2], memory[2];
  } cases[] = {
      {{20000, 10 * kGb}, {8000, 12000}, {10 * kGb, 0}},  // as the formula says
      {{10000, 5 * kGb}, {4000, 6000}, {5 * kGb, 0}},     // half an hour's worth
      {{0, 0}, {0, 0}, {0, 0}},                           // off
      {{40000, 20 * kGb}, {16000, 24000}, {20 * kGb, 0}},
      {{200000, 10 * kGb}, {50000, 50000}, {10 * kGb, 0}},  // no zone sells more than it has
  };
  for (const auto& c : cases) {
    const auto got = zoneAmounts(batch, c.ledger);
    for (size_t i = 0; i < 2; i++) {
      EXPECT_EQ(got[i].milliCpu, c.cpu[i]) << c.ledger.milliCpu;
      EXPECT_EQ(got[i].memory.value(), c.memory[i]) << c.ledger.memoryBytes;
    }
  }
  // The formula has nothing to give, the hour has: by capacity.
  batch.milliCpu = batch.zones[0].milliCpu = batch.zones[1].milliCpu = 0;
  EXPECT_EQ(zoneAmounts(batch, {9000, 0})[0].milliCpu, 4500);
}

TEST(ZoneAmounts, FallAtOnceUnderAPolicy) {
  Scene s;
  s.zone("node-0", "50", "60G");
  std::vector<ZoneAmount> amounts = {{"node-0", 10000, Quantity::of(Bytes{kGb})}};
  auto zones = s.topology->zones;
  ASSERT_TRUE(updateZones(zones, amounts, 0.1, {}));
  amounts[0].milliCpu = 9990;
  EXPECT_FALSE(updateZones(zones, amounts, 0.1, {}));
  EXPECT_TRUE(updateZones(zones, amounts, 0.1, {}, true));
  amounts[0].milliCpu = 10000;
  EXPECT_FALSE(updateZones(zones, amounts, 0.1, {}, true));
}

// The hour scales everything that is sold: batch, its zones, and mid.
TEST(Windows, ScaleZonesAndMidToo) {
  Scene s = n();
  s.usage("40", "50G");
  s.zone("node-0", "50", "60G");
  s.zone("node-1", "50", "60G");
  s.metric.prodReclaimableMetric.emplace();
  Scene::size(s.metric.prodReclaimableMetric->resource.resources, "10", "15G");
  const NodePlan full = s.plan();
  ASSERT_EQ(full.midSold.milliCpu, 10000);
  s.window = WindowReport{{Quantity::ofMilli(12500), Quantity::of(Bytes{kGb})}, 0.5};
  const NodePlan half = s.plan();
  EXPECT_EQ(half.ledger.milliCpu, 12500);
  EXPECT_EQ(half.midSold.milliCpu, 5000);
  EXPECT_EQ(half.zones[0].milliCpu, full.zones[0].milliCpu / 2);
  s.window = WindowReport{{}, 0};
  const NodePlan off = s.plan();
  const auto after = granted(s.node, off.wish);
  for (auto name : {api::resource::kBatchCpu, api::resource::kBatchMemory, api::resource::kMidCpu,
                    api::resource::kMidMemory}) {
    ASSERT_TRUE(after.allocatable.has(name));
    EXPECT_TRUE(after.allocatable.amount(name).isZero()) << name;
  }
  for (const auto& zone : off.zones) EXPECT_EQ(zone.milliCpu, 0);
}

TEST(Standing, IsTheLedgerThatWasWritten) {
  const struct {
    const char* annotations;  // third parties, normalization
    int64_t cpu;
  } cases[] = {
      {"", 25000},
      {R"("node.koordinator.sh/thirdPartyAllocations":"{\"allocations\":[{\"name\":\"yarn\",\"priority\":\"koord-batch\",\"resources\":{\"kubernetes.io/batch-cpu\":\"10k\",\"kubernetes.io/batch-memory\":\"1G\"}}]}")",
       25000},
      {R"("node.koordinator.sh/cpu-normalization-ratio":"1.37")", 25000},
  };
  for (const auto& c : cases) {
    Scene s = n();
    s.options.cpuNormalization = false;  // the node's own ratio holds
    const auto node =
        api::decodeText<api::Node>(std::string(R"({"metadata":{"annotations":{"a":"b")") +
                                   (*c.annotations ? "," : "") + c.annotations + "}}}");
    s.node.meta.annotations = node->meta.annotations;
    EXPECT_FALSE(standingLedger(s.node));
    write(s, s.plan());
    const auto got = standingLedger(s.node);
    ASSERT_TRUE(got);
    EXPECT_EQ(got->milliCpu, c.cpu) << c.annotations;
    EXPECT_EQ(got->memoryBytes, 33 * kGb) << c.annotations;
  }
}

TEST(Standing, NormalizationCanBeTakenBack) {
  for (const double ratio : {1.0, 1.2, 1.37, 2.5, 5.0})
    for (const int64_t milli : {0, 1, 7, 999, 25000, 123456}) {
      EXPECT_GE(denormalized(normalized(milli, ratio), ratio), milli);
      EXPECT_EQ(normalized(denormalized(normalized(milli, ratio), ratio), ratio),
                normalized(milli, ratio));
    }
}

// A new leader holds the rise that the old one held: nothing jumps at a hand-over.
TEST(Standing, ANewLeaderGoesOnSteadilyFromTheNode) {
  Scene s = n();
  s.config = configOf(
      R"("cpuReclaimThresholdPercent":65,"memoryReclaimThresholdPercent":65,"steadyReclaim":{"enable":true})");
  write(s, s.plan());
  EXPECT_EQ(shown(s, "kubernetes.io/batch-cpu"), 25000);
  s.metric.podsMetric[0].podUsage.resources.set(api::resource::kCpu, Quantity::of(1));  // was 11
  EXPECT_EQ(s.plan().formula.milliCpu, 35000);
  s.before = {};  // nobody remembers
  NodePlan plan = s.plan();
  EXPECT_EQ(plan.ledger.milliCpu, 25000);
  EXPECT_FALSE(isWorthAWrite(s, plan));
  EXPECT_EQ(plan.lookAgain, Duration(std::chrono::seconds(120)));
  s.before = plan.memory;
  s.now += std::chrono::seconds(150);
  s.metric.updateTime = s.now;
  plan = s.plan();
  EXPECT_EQ(plan.ledger.milliCpu, 30000);  // half a minute of 10 % a minute
  s.before = {};
  s.system("17", "12G");  // a fall is written by whoever leads
  s.metric.podsMetric[0].podUsage.resources.set(api::resource::kCpu, Quantity::of(11));
  EXPECT_EQ(s.plan().ledger.milliCpu, 15000);
}

}  // namespace
}  // namespace mangrove::manager
