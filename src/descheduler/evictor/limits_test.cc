// Cases 33, 34 and 38: how often and how many.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "descheduler/evictor/cycle_limits.h"
#include "descheduler/evictor/object_limiter.h"
#include "descheduler/evictor/proxy.h"
#include "descheduler/testing/scene.h"

namespace mangrove::descheduler {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Scene;

const MonoTime kStart{std::chrono::hours(1)};

TEST(ObjectLimiter, OneOfTenEach150Seconds) {  // case 33
  Scene scene;
  const api::Pod& pod = scene.pod("p", "n");
  ObjectLimiter limiter{MigrationArgs{}};
  EXPECT_FALSE(limiter.isExceeded(pod, kStart));
  limiter.took(pod, 10, kStart);
  EXPECT_TRUE(limiter.isExceeded(pod, kStart + seconds(149)));
  EXPECT_FALSE(limiter.isExceeded(pod, kStart + seconds(150)));
  EXPECT_FALSE(limiter.isExceeded(pod, kStart + seconds(451)));
  EXPECT_EQ(limiter.buckets(), 0U) << "idle ones are dropped";
}

TEST(ObjectLimiter, ANamespaceHasOneOnlyWhenAsked) {
  Scene scene;
  const api::Pod& pod = scene.pod("p", "n");
  MigrationArgs args;
  args.perWorkload.duration = Duration::zero();
  args.perNamespace = {seconds(60), api::IntOrString{false, 6, ""}, 2};
  ObjectLimiter limiter(args);
  limiter.took(pod, 10, kStart);
  EXPECT_FALSE(limiter.isExceeded(pod, kStart)) << "two at once";
  limiter.took(pod, 10, kStart);
  EXPECT_TRUE(limiter.isExceeded(pod, kStart + seconds(9)));
  EXPECT_FALSE(limiter.isExceeded(pod, kStart + seconds(10)));
}

TEST(EvictionRate, OneAtOnceAndThenTenASecond) {  // case 34
  const MigrationArgs args;
  client::TokenBucket bucket(args.evictQps, static_cast<double>(args.evictBurst));
  std::vector<int64_t> sent;
  for (MonoTime now = kStart; sent.size() < 5; now += bucket.untilNext(now)) {
    if (bucket.tryTake(now)) sent.push_back(std::chrono::round<milliseconds>(now - kStart).count());
  }
  EXPECT_THAT(sent, ::testing::ElementsAre(0, 100, 200, 300, 400));
}

class Yes final : public EvictPlugin {
 public:
  std::string_view name() const override { return "Yes"; }
  std::optional<std::string> refusal(const api::Pod&) override { return std::nullopt; }
  std::optional<std::string> refusalNow(const api::Pod&) override { return std::nullopt; }
  bool evict(const Eviction&) override {
    ++evictions;
    return true;
  }
  void beginCycle(const Look&) override {}
  void endCycle() override {}
  int evictions = 0;
};

TEST(EvictorProxy, OnePerNodeAndCycleAlsoInADryRun) {  // case 38
  for (const bool dryRun : {false, true}) {
    Scene scene;
    const api::Pod& first = scene.pod("a", "n");
    const api::Pod& second = scene.pod("b", "n");
    CycleCount count({.perNode = 1, .perNamespace = {}, .total = {}});
    Yes yes;
    std::vector<std::string> results;
    EvictorProxy proxy({&yes}, yes, count, dryRun, [&](const Eviction&, std::string_view result) {
      results.emplace_back(result);
    });
    EXPECT_TRUE(proxy.evict(first, "X", "r"));
    EXPECT_FALSE(proxy.evict(second, "X", "r"));
    EXPECT_EQ(results.back(), "maximum number of pods per node reached");
    EXPECT_EQ(yes.evictions, dryRun ? 0 : 1);
    count.reset();
    EXPECT_TRUE(proxy.evict(second, "X", "r"));
  }
}

TEST(CycleCount, NamespaceAndTotal) {
  Scene scene;
  const api::Pod& pod = scene.pod("a", "n");
  CycleCount byNamespace({.perNode = {}, .perNamespace = 1, .total = {}});
  byNamespace.count(pod);
  EXPECT_EQ(byNamespace.refusal(pod), "maximum number of pods per namespace reached");
  CycleCount nobody({.perNode = {}, .perNamespace = {}, .total = 0});
  EXPECT_TRUE(nobody.refusal(pod).has_value());
}

}  // namespace
}  // namespace mangrove::descheduler
