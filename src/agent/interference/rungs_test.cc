// Steps that are taken against offline work as a whole, and the last one, for the service itself: each
// over a small simulated node on which that step, and no other, helps.
#include <functional>

#include <gtest/gtest.h>

#include "agent/interference/episodes.h"
#include "base/number/rng.h"
#include "json/value.h"

namespace mangrove::agent::interference {
namespace {

using std::chrono::seconds;

// How much of the trouble is left with these orders in force: 1 all of it, 0 none.
using Left = std::function<double(const Orders&)>;

// One service, one batch pod. What hurts is one resource.
class Node {
 public:
  explicit Node(Resource resource) : resource_(resource), episodes_(3) {
    switches.gaussian = switches.cpi2 = switches.pressure = switches.ladder = switches.causal =
        true;
  }

  Orders tick(const Left& left) {
    ++second_;
    Scene scene;
    scene.means = means;
    scene.at = MonoTime{} + seconds(second_);
    scene.wall = WallTime{seconds(1'800'000'000 + second_)};
    const double bad = calm ? 0 : left(orders);
    Service web{.uid = "web", .ns = "shop", .name = "web", .application = "shop/web", .cores = 2};
    web.mayMove = mayMove;
    web.hasSiblings = true;
    web.promisedMs = 10;
    show(web, bad);
    scene.services.push_back(web);
    scene.neighbours.push_back({.uid = "sort",
                                .name = "batch/sort",
                                .application = "batch/sort",
                                .rank = 2,
                                .running = seconds(60),
                                .cores = 3,
                                .memory = 1e9,
                                .evictable = false});
    orders = episodes_.step(scene, switches);
    for (auto& one : episodes_.takeReports("n1")) report = one;
    return orders;
  }
  void ticks(int count, const Left& left) {
    for (int i = 0; i < count; ++i) tick(left);
  }
  void restart() {
    const std::string kept = json::write(episodes_.state());
    episodes_ = Episodes(9);
    episodes_.restore(json::parse(kept).value());
  }
  size_t open() const { return episodes_.size(); }

  Switches switches;
  Means means;
  bool calm = false, mayMove = false;
  Orders orders;
  api::InterferenceReport report;

 private:
  void show(Service& web, double bad) {
    const bool due = second_ % 10 == 0;
    const double noise = rng_.unit();
    if (resource_ == Resource::kCache || resource_ == Resource::kBandwidth) {
      web.instant.cpi = 1 + 2 * bad + 0.1 * noise;
      if (due) {
        web.counted = Counted{.cpi = *web.instant.cpi, .fence = 1.8};
        if (*web.instant.cpi > 1.8) web.counted->contention = {resource_};
        web.stalls = Stalls{};
      }
      return;
    }
    const double stall = 2 + 38 * bad + noise;
    Stalls stalls;
    if (resource_ == Resource::kCpu) web.instant.cpu = stall, stalls.cpu = stall;
    if (resource_ == Resource::kMemory) web.instant.memory = stall, stalls.memorySome = stall;
    if (resource_ == Resource::kIo) web.instant.io = stall, stalls.io = stall;
    if (resource_ == Resource::kNetwork) web.instant.lost = stall / 4, stalls.lost = stall / 4;
    if (resource_ == Resource::kUnknown) {
      web.instant.latency = 5 + 25 * bad + noise;
      stalls.latencyPercent = 50 + 250 * bad;
    }
    if (due) web.stalls = stalls;
  }

  Resource resource_;
  Episodes episodes_;
  Rng rng_{5};
  int second_ = 0;
};

double all(const Orders&) {
  return 1;
}

std::string storyOf(const api::InterferenceReport& report) {
  std::string out;
  for (const auto& one : report.status.actions) out += one.action + "\n";
  return out;
}

TEST(Rungs, CacheWaysAreHalvedAndGivenBackOneByOne) {
  Node node(Resource::kCache);
  node.means = {.ways = 20, .offlineWays = 10};
  const auto left = [](const Orders& orders) { return orders.ways && *orders.ways <= 2 ? 0 : 1; };
  node.ticks(80, left);
  EXPECT_EQ(node.orders.ways, 2) << storyOf(node.report);
  EXPECT_NE(storyOf(node.report).find("L3 cache ways: 5"), std::string::npos)
      << storyOf(node.report);
  EXPECT_TRUE(node.orders.caps.empty()) << "no single pod is touched while this helps";
  node.restart();
  node.ticks(1, left);
  EXPECT_EQ(node.orders.ways, 2) << "the next agent goes on with it";
  node.calm = true;
  node.ticks(1200, left);
  EXPECT_FALSE(node.orders.ways);
  EXPECT_EQ(node.open(), 0u);
  const std::string story = storyOf(node.report);
  for (const char* step : {"back: 3", "back: 4", "back: 9", "back: off"})
    EXPECT_NE(story.find(step), std::string::npos) << step << " in " << story;
}

TEST(Rungs, MemoryBandwidth) {
  Node node(Resource::kBandwidth);
  node.means.bandwidth = true;
  node.ticks(
      80, [](const Orders& orders) { return orders.bandwidth && *orders.bandwidth <= 25 ? 0 : 1; });
  EXPECT_EQ(node.orders.bandwidth, 25);
  EXPECT_NE(node.orders.bandwidthWhy.find("shop/web"), std::string::npos);
}

TEST(Rungs, SiblingsAfterTheIdleClass) {
  Node node(Resource::kCpu);
  node.ticks(60, [](const Orders& orders) { return orders.siblings.empty() ? 1 : 0; });
  EXPECT_FALSE(node.orders.siblings.empty());
  EXPECT_EQ(node.orders.beside.count("web"), 1u);
  EXPECT_TRUE(node.orders.idleClass.empty()) << "it did not help and was taken back";
}

TEST(Rungs, DisksAndNetwork) {
  Node disk(Resource::kIo);
  disk.ticks(60, [](const Orders& orders) { return orders.ioWeight.empty() ? 1 : 0; });
  EXPECT_FALSE(disk.orders.ioWeight.empty());
  Node net(Resource::kNetwork);
  net.ticks(60, [](const Orders& orders) { return orders.netClass.empty() ? 1 : 0; });
  EXPECT_FALSE(net.orders.netClass.empty());
}

TEST(Rungs, WhatThisMachineCannotDoIsNotTaken) {
  Node node(Resource::kIo);
  node.means.absent[Rung::kIoWeight] = "this kernel weighs no disk requests";
  node.switches.causal = false;
  node.ticks(200, all);
  EXPECT_TRUE(node.orders.ioWeight.empty());
  EXPECT_TRUE(node.orders.caps.empty());
  EXPECT_EQ(storyOf(node.report), "");
}

// A service that is slow by its own word, and only counters or latency can tell.
TEST(Rungs, LatencyIsProvedByLatency) {
  Node node(Resource::kUnknown);
  const auto left = [](const Orders& orders) {
    for (const auto& cap : orders.caps)
      if (cap.cores < 2) return 0;
    return 1;
  };
  node.ticks(400, left);
  ASSERT_EQ(node.report.status.suspects.size(), 1u);
  EXPECT_EQ(node.report.status.suspects[0].verified, "guilty") << storyOf(node.report);
  EXPECT_EQ(node.report.status.suspects[0].application, "batch/sort");
  EXPECT_FALSE(node.orders.caps.empty());
}

// Holding the guilty one helps a little and never enough, and it may not be evicted: in the end the
// service itself is to go, where it may.
TEST(Rungs, TheServiceMovesLast) {
  const auto left = [](const Orders& orders) {
    double out = 1;
    for (const auto& cap : orders.caps) out = std::min(out, cap.cores < 0.1 ? 0.4 : 0.6);
    return out;
  };
  for (const bool may : {true, false}) {
    Node node(Resource::kUnknown);
    node.mayMove = may;
    for (int i = 0; i < 2500 && !node.report.status.moveVictim; ++i) node.tick(left);
    EXPECT_EQ(node.report.status.moveVictim, may) << storyOf(node.report);
  }
}

}  // namespace
}  // namespace mangrove::agent::interference
