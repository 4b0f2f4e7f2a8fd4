// Over random nodes, reports and strategies: what is sold is never negative, never more than the
// policy's formula allows, moves in the right direction with each input, and is the same by
// whatever name it is asked for.
#include <set>

#include <gtest/gtest.h>

#include "api/wire/names.h"
#include "base/number/rng.h"
#include "base/testing/size.h"
#include "manager/controllers/noderesource/plan.h"

namespace mangrove::manager {
namespace {

const int kRounds = sized(1000, 100000);
const WallTime kNow = *parseTime("2026-03-01T12:00:00Z");

struct World {
  api::Node node;
  std::vector<PodFacts> pods;
  MetricFacts metric;
  std::optional<api::NodeResourceTopology> topology;
  Colocation strategy = builtIn<Colocation>();

  BatchResult batch() const {
    std::vector<const PodFacts*> pointers;
    for (const auto& pod : pods) pointers.push_back(&pod);
    return batchResource(
        {node, pointers, &metric, topology ? &*topology : nullptr, strategy, kNow});
  }
  MidResult mid() const {
    std::vector<const PodFacts*> pointers;
    for (const auto& pod : pods) pointers.push_back(&pod);
    return midResource({node, pointers, &metric, nullptr, strategy, kNow});
  }
};

int64_t upTo(Rng& rng, int64_t limit) {
  return static_cast<int64_t>(rng.below(static_cast<uint64_t>(limit) + 1));
}

CpuMemory amount(Rng& rng, int64_t milli, int64_t bytes) {
  return {Quantity::ofMilli(upTo(rng, milli)), Quantity::of(Bytes{upTo(rng, bytes)})};
}

void setList(api::ResourceList& list, const CpuMemory& amounts) {
  list.set(api::resource::kCpu, amounts.cpu);
  list.set(api::resource::kMemory, amounts.memory);
}

api::PriorityBand randomBand(Rng& rng) {
  using Band = api::PriorityBand;
  constexpr Band kBands[] = {Band::kNone, Band::kProd, Band::kMid, Band::kBatch, Band::kFree};
  return kBands[rng.below(5)];
}

World randomWorld(Rng& rng) {
  constexpr int64_t kMemory = int64_t{1} << 38;
  World w;
  const CpuMemory capacity = amount(rng, 128000, kMemory);
  setList(w.node.status.capacity, capacity);
  setList(w.node.status.allocatable,
          {Quantity::ofMilli(capacity.cpu.milliValue() - upTo(rng, 3000)), capacity.memory});
  w.metric.updateTime = kNow;
  w.metric.hasNodeMetric = w.metric.hasNodeUsage = true;
  w.metric.systemUsage = amount(rng, 8000, kMemory / 16);
  w.metric.nodeUsage = amount(rng, 128000, kMemory);
  w.metric.prodReclaimable = amount(rng, 64000, kMemory / 2);
  const auto pods = upTo(rng, 12);
  for (int64_t i = 0; i < pods; i++) {
    PodFacts pod;
    pod.key = static_cast<uint64_t>(i);
    pod.band = randomBand(rng);
    pod.qos = rng.below(4) == 0 ? api::Qos::kLse : api::Qos::kLs;
    pod.counts = rng.below(8) != 0;
    pod.request = amount(rng, 16000, kMemory / 8);
    if (rng.below(3) != 0)
      w.metric.pods.push_back({pod.key, randomBand(rng), amount(rng, 16000, kMemory / 8)});
    w.pods.push_back(pod);
  }
  if (rng.below(3) == 0)
    w.metric.hosts.push_back({randomBand(rng), amount(rng, 4000, kMemory / 32)});
  auto& s = w.strategy;
  s.enable = true;
  s.cpuReclaimThresholdPercent = Percent{upTo(rng, 160)};
  s.memoryReclaimThresholdPercent = Percent{upTo(rng, 160)};
  constexpr const char* kPolicies[] = {"usage", "request", "maxUsageRequest", "else"};
  s.cpuCalculatePolicy = kPolicies[rng.below(4)];
  s.memoryCalculatePolicy = kPolicies[rng.below(4)];
  if (rng.below(3) == 0) s.batchCpuThresholdPercent = Percent{upTo(rng, 120)};
  if (rng.below(3) == 0) s.batchMemoryThresholdPercent = Percent{upTo(rng, 120)};
  s.midUnallocatedPercent = Percent{upTo(rng, 100)};
  s.midCpuThresholdPercent = Percent{upTo(rng, 100)};
  s.midMemoryThresholdPercent = Percent{upTo(rng, 100)};
  return w;
}

// The least that must be kept back whatever the policy: margin and reservation.
TEST(SoldProperty, NeverNegativeNeverMoreThanTheFormulaAllows) {
  Rng rng(7);
  for (int round = 0; round < kRounds; round++) {
    const World w = randomWorld(rng);
    const auto got = w.batch();
    ASSERT_FALSE(got.reset);
    ASSERT_GE(got.milliCpu, 0);
    ASSERT_GE(got.memoryBytes, 0);
    const CpuMemory most = notNegative(got.terms.capacity - got.terms.margin - got.terms.reserved);
    ASSERT_LE(got.milliCpu, most.cpu.milliValue());
    ASSERT_LE(got.memoryBytes, most.memory.value());
    if (w.strategy.batchCpuThresholdPercent) {
      ASSERT_LE(got.milliCpu,
                got.terms.capacity.cpu.milliValue() * w.strategy.batchCpuThresholdPercent->v / 100);
    }
    const auto mid = w.mid();
    ASSERT_GE(mid.milliCpu, 0);
    ASSERT_GE(mid.memoryBytes, 0);
    ASSERT_LE(mid.milliCpu, mid.terms.cap.cpu.milliValue());
    ASSERT_LE(mid.memoryBytes, mid.terms.cap.memory.value());
  }
}

// The formula once more, in plain numbers and from the inputs alone.
struct Plain {
  double cpu = 0, memory = 0;  // thousandths of a core, bytes
  Plain operator+(const Plain& o) const { return {cpu + o.cpu, memory + o.memory}; }
  Plain operator-(const Plain& o) const { return {cpu - o.cpu, memory - o.memory}; }
  static Plain of(const CpuMemory& a) {
    return {static_cast<double>(a.cpu.milliValue()), static_cast<double>(a.memory.value())};
  }
  static Plain larger(const Plain& a, const Plain& b) {
    return {std::max(a.cpu, b.cpu), std::max(a.memory, b.memory)};
  }
};

struct Services {
  Plain used, asked, larger;
};

Services servicesOf(const World& w) {
  Services out;
  std::set<uint64_t> met;
  for (const auto& pod : w.pods) {
    if (!pod.counts) continue;
    met.insert(pod.key);
    if (!pod.isHigh()) continue;
    const Plain asked = Plain::of(pod.request);
    const PodUsage* metric = w.metric.find(pod.key);
    Plain used = metric ? Plain::of(metric->usage) : asked;
    out.larger = out.larger + Plain::larger(asked, used);
    if (metric && pod.qos == api::Qos::kLse) used.cpu = asked.cpu;
    out.used = out.used + used;
    out.asked = out.asked + asked;
  }
  for (const auto& metric : w.metric.pods) {
    const bool low =
        metric.band == api::PriorityBand::kBatch || metric.band == api::PriorityBand::kFree;
    if (met.contains(metric.key) || low) continue;
    out.used = out.used + Plain::of(metric.usage);
    out.larger = out.larger + Plain::of(metric.usage);
  }
  return out;
}

Plain allowedBy(const World& w) {
  const auto& s = w.strategy;
  const Plain capacity = Plain::of(cpuMemoryOf(w.node.status.capacity));
  const Plain reserved =
      Plain::larger({}, capacity - Plain::of(cpuMemoryOf(w.node.status.allocatable)));
  Plain system = Plain::of(w.metric.systemUsage);
  for (const auto& host : w.metric.hosts)
    if (host.band == api::PriorityBand::kProd || host.band == api::PriorityBand::kMid)
      system = system + Plain::of(host.usage);
  const Plain kept = Plain::larger(system, reserved);
  const Plain safe = {
      capacity.cpu * static_cast<double>(s.cpuReclaimThresholdPercent->v) / 100,
      capacity.memory * static_cast<double>(s.memoryReclaimThresholdPercent->v) / 100};
  const Services services = servicesOf(w);
  const bool cpuByMax = s.cpuCalculatePolicy == "maxUsageRequest";
  Plain out;
  out.cpu = safe.cpu - kept.cpu - (cpuByMax ? services.larger : services.used).cpu;
  if (s.memoryCalculatePolicy == "request")
    out.memory = safe.memory - reserved.memory - services.asked.memory;
  else if (s.memoryCalculatePolicy == "maxUsageRequest")
    out.memory = safe.memory - kept.memory - services.larger.memory;
  else
    out.memory = safe.memory - kept.memory - services.used.memory;
  const auto cap = [](double amount, const std::optional<Percent>& percent, double capacityThere) {
    return percent ? std::min(amount, capacityThere * static_cast<double>(percent->v) / 100)
                   : amount;
  };
  out.cpu = cap(out.cpu, s.batchCpuThresholdPercent, capacity.cpu);
  out.memory = cap(out.memory, s.batchMemoryThresholdPercent, capacity.memory);
  return Plain::larger({}, out);
}

TEST(SoldProperty, IsWhatTheFormulaSaysToTheLastUnit) {
  Rng rng(5);
  for (int round = 0; round < kRounds; round++) {
    const World w = randomWorld(rng);
    const auto got = w.batch();
    const Plain want = allowedBy(w);
    ASSERT_NEAR(static_cast<double>(got.milliCpu), want.cpu, 2) << "round " << round;
    ASSERT_NEAR(static_cast<double>(got.memoryBytes), want.memory, 2) << "round " << round;
  }
}

// The same for mid: less predicted, less unused, more asked for or kept back never sells more.
TEST(SoldProperty, MidMovesInTheRightDirectionWithEachInput) {
  using Tighten = void (*)(World&);
  static const CpuMemory more{Quantity::ofMilli(1500), Quantity::of(Bytes{1 << 29})};
  const Tighten tighten[] = {
      [](World& w) { w.metric.prodReclaimable = notNegative(w.metric.prodReclaimable - more); },
      [](World& w) { w.metric.nodeUsage += more; },
      [](World& w) { w.metric.systemUsage += more; },
      [](World& w) { w.strategy.midUnallocatedPercent->v /= 2; },
      [](World& w) { w.strategy.midCpuThresholdPercent->v /= 2; },
      [](World& w) { w.strategy.midMemoryThresholdPercent->v /= 2; },
      [](World& w) {
        for (auto& pod : w.pods) pod.request += more;
      },
  };
  Rng rng(19);
  for (int round = 0; round < kRounds; round++) {
    const World before = randomWorld(rng);
    const size_t which = rng.below(std::size(tighten));
    World after = before;
    tighten[which](after);
    const auto a = before.mid(), b = after.mid();
    ASSERT_LE(b.milliCpu, a.milliCpu) << "input " << which << " in round " << round;
    ASSERT_LE(b.memoryBytes, a.memoryBytes) << "input " << which << " in round " << round;
  }
}

// Each change makes the world tighter; the sold amounts may only fall.
TEST(SoldProperty, MovesInTheRightDirectionWithEachInput) {
  using Tighten = void (*)(World&);
  const Tighten tighten[] = {
      [](World& w) { w.metric.systemUsage.cpu += Quantity::ofMilli(1500); },
      [](World& w) { w.metric.systemUsage.memory += Quantity::of(Bytes{1} * (1 << 30)); },
      [](World& w) {
        for (auto& pod : w.metric.pods)
          pod.usage += CpuMemory{Quantity::ofMilli(700), Quantity::of(Bytes{1 << 28})};
      },
      [](World& w) {
        for (auto& pod : w.pods)
          pod.request += CpuMemory{Quantity::ofMilli(700), Quantity::of(Bytes{1 << 28})};
      },
      [](World& w) {
        PodFacts pod;
        pod.key = 999;
        pod.band = api::PriorityBand::kProd;
        pod.counts = true;
        pod.request = {Quantity::ofMilli(900), Quantity::of(Bytes{1 << 29})};
        w.pods.push_back(pod);
      },
      [](World& w) {
        w.node.status.allocatable.set(api::resource::kCpu,
                                      Quantity::ofMilli(w.node.status.allocatable.cpu().v - 2000));
      },
      [](World& w) {
        w.strategy.cpuReclaimThresholdPercent->v -=
            std::min<int64_t>(10, w.strategy.cpuReclaimThresholdPercent->v);
      },
      [](World& w) {
        w.strategy.memoryReclaimThresholdPercent->v -=
            std::min<int64_t>(10, w.strategy.memoryReclaimThresholdPercent->v);
      },
      [](World& w) { w.strategy.batchCpuThresholdPercent = Percent{30}; },
      [](World& w) {
        w.metric.hosts.push_back(
            {api::PriorityBand::kProd, {Quantity::ofMilli(800), Quantity::of(Bytes{1 << 28})}});
      },
      [](World& w) {
        w.metric.pods.push_back({5000,
                                 api::PriorityBand::kProd,
                                 {Quantity::ofMilli(800), Quantity::of(Bytes{1 << 28})}});
      },
  };
  Rng rng(11);
  for (int round = 0; round < kRounds; round++) {
    const World before = randomWorld(rng);
    const size_t which = rng.below(std::size(tighten));
    World after = before;
    tighten[which](after);
    if (which == 8 && before.strategy.batchCpuThresholdPercent &&
        before.strategy.batchCpuThresholdPercent->v < 30)
      continue;  // that was looser, not tighter
    const auto a = before.batch(), b = after.batch();
    ASSERT_LE(b.milliCpu, a.milliCpu) << "input " << which << " in round " << round;
    ASSERT_LE(b.memoryBytes, a.memoryBytes) << "input " << which << " in round " << round;
  }
}

TEST(SoldProperty, MoreCapacityNeverSellsLessWithinTheNode) {
  Rng rng(13);
  for (int round = 0; round < kRounds; round++) {
    World w = randomWorld(rng);
    const auto before = w.batch();
    CpuMemory bigger = cpuMemoryOf(w.node.status.capacity);
    bigger.cpu += Quantity::ofMilli(4000);
    setList(w.node.status.capacity, bigger);
    w.node.status.allocatable.set(
        api::resource::kCpu,
        w.node.status.allocatable.amount(api::resource::kCpu) + Quantity::ofMilli(4000));
    ASSERT_GE(w.batch().milliCpu, before.milliCpu);
  }
}

// Whoever fills its view to the brim, all views together never place more than the ledger.
TEST(SoldProperty, AliasesNeverAddUpToMoreThanTheLedger) {
  Rng rng(17);
  const std::vector<std::string> on = {"crane", "katalyst", "caster"};
  for (int round = 0; round < kRounds; round++) {
    const Sold ledger{upTo(rng, 100000), upTo(rng, int64_t{1} << 36)};
    Placed placed{};
    for (int step = 0; step < 12; step++) {
      const auto reports = aliasReports(ledger, placed, on);
      const size_t view = rng.below(reports.size());
      const auto& report = reports[view];
      // The scheduler places through a view while requests stay within its report.
      const int64_t unit = report.view->milliPerUnit;
      const int64_t free = report.cpu - placed[view].milliCpu / unit;
      if (free > 0) placed[view].milliCpu += (1 + upTo(rng, free - 1)) * unit;
      const int64_t room = report.memoryBytes - placed[view].memoryBytes;
      if (room > 0) placed[view].memoryBytes += 1 + upTo(rng, room - 1);
      Sold sum;
      for (const auto& part : placed) {
        sum.milliCpu += part.milliCpu;
        sum.memoryBytes += part.memoryBytes;
      }
      ASSERT_LE(sum.milliCpu, ledger.milliCpu);
      ASSERT_LE(sum.memoryBytes, ledger.memoryBytes);
    }
  }
}

TEST(Steady, DropsAtOnceHoldsAndRampsRises) {
  const SteadyReclaim policy{true, 120, Percent{10}, 0.02};
  WallTime now = kNow;
  SteadyState state;
  const auto step = [&](int64_t target, int seconds) {
    now += std::chrono::seconds(seconds);
    const auto out = steadyStep(state, target, 100000, now, policy);
    state = out.state;
    return out.value;
  };
  EXPECT_EQ(step(20000, 0), 20000);
  EXPECT_EQ(step(10000, 10), 10000);  // a drop that matters
  EXPECT_EQ(step(9900, 10), 10000);   // noise
  EXPECT_EQ(step(30000, 10), 10000);  // a rise is held …
  EXPECT_EQ(step(30000, 119), 10000);
  EXPECT_EQ(step(30000, 31), 15000);  // … and then ramps: 30 s × 10 %/min of 100 000
  EXPECT_EQ(step(30000, 60), 25000);
  EXPECT_EQ(step(28000, 60), 28000);  // no further than the lowest target meanwhile
  EXPECT_EQ(step(0, 1), 0);
}

// The point of the option: the same noise costs a fraction of the churn.
TEST(Steady, ChurnsLessThanTheReferencesRule) {
  const SteadyReclaim policy{true, 120, Percent{10}, 0.02};
  Rng rng(3);
  SteadyState state;
  int64_t plain = 40000, steady = 40000, plainChurn = 0, steadyChurn = 0;
  WallTime now = kNow;
  for (int minute = 0; minute < 600; minute++, now += std::chrono::minutes(1)) {
    const int64_t target = 30000 + upTo(rng, 20000);  // a service that comes and goes
    if (std::abs(target - plain) > plain / 10) {
      plainChurn += std::abs(target - plain);
      plain = target;
    }
    const auto step = steadyStep(state, target, 100000, now, policy);
    state = step.state;
    steadyChurn += std::abs(step.value - steady);
    steady = step.value;
    ASSERT_LE(static_cast<double>(steady), static_cast<double>(target) / 0.98 + 1);
  }
  EXPECT_LT(steadyChurn, plainChurn / 2);
}

}  // namespace
}  // namespace mangrove::manager
