#include "descheduler/plan/minimal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/number/rng.h"
#include "descheduler/load/node_load.h"

namespace mangrove::descheduler {
namespace {

using ::testing::ElementsAre;

const FitsOn kEverywhere = [](size_t, size_t, size_t) { return true; };

MovablePod pod(int64_t cpu, int rank = 0, double cost = 0) {
  return {{cpu}, {cpu}, rank, 0, cost};
}

TEST(MinimalPlan, OneLargePodInsteadOfManySmallOnes) {
  const std::vector<HotSource> sources{{{900}, {pod(300), pod(400), pod(1000), pod(300)}}};
  const auto plan = minimalPlan(sources, std::vector<Room>{{5000}}, kEverywhere);
  EXPECT_THAT(plan.moves, ElementsAre(CoverMove{0, 2, 0}));
  EXPECT_EQ(plan.lowerBound, 1U);
}

TEST(MinimalPlan, OfAsFewTheLowestClassThenTheLeastWork) {
  const std::vector<HotSource> sources{
      {{500}, {pod(600, 4, 0), pod(600, 2, 90), pod(600, 2, 10), pod(700, 2, 50)}}};
  const auto plan = minimalPlan(sources, std::vector<Room>{{5000}}, kEverywhere);
  EXPECT_THAT(plan.moves, ElementsAre(CoverMove{0, 2, 0}));
}

TEST(MinimalPlan, SourcesDoNotTakeEachOthersRoom) {
  // Either pod of the first suffices; only the smaller leaves room for the second source.
  const std::vector<HotSource> sources{{{100}, {pod(500, 1), pod(200, 2)}}, {{100}, {pod(300)}}};
  const auto plan = minimalPlan(sources, std::vector<Room>{{500}}, kEverywhere);
  EXPECT_EQ(plan.moves.size(), 2U);
  EXPECT_TRUE(plan.unrelieved.empty());
}

TEST(MinimalPlan, WhatNothingRelievesIsLeftAlone) {
  const std::vector<HotSource> sources{{{100}, {pod(50)}}, {{100}, {pod(300)}}};
  const auto plan = minimalPlan(sources, std::vector<Room>{{500}}, kEverywhere);
  EXPECT_THAT(plan.unrelieved, ElementsAre(0U));
  EXPECT_EQ(plan.moves.size(), 1U);
}

// Every assignment of every pod, without any of the planner's shortcuts: the most sources that can
// be relieved, and the fewest moves for that.
struct Exhaustive {
  const std::vector<HotSource>& sources;
  std::vector<Room> rooms;
  const FitsOn& fits;
  std::vector<Loads> left = {};
  size_t mostRelieved = 0, fewestMoves = 0;

  void run() {
    for (const HotSource& source : sources) left.push_back(source.excess);
    visit(0, 0, 0);
  }
  void visit(size_t s, size_t p, size_t moves) {
    if (s == sources.size()) return judge(moves);
    if (p == sources[s].pods.size()) return visit(s + 1, 0, moves);
    visit(s, p + 1, moves);
    const MovablePod& one = sources[s].pods[p];
    for (size_t t = 0; t < rooms.size(); ++t) {
      if (!fits(s, p, t)) continue;
      Room before = rooms[t];
      subtract(rooms[t], one.needs);
      subtract(left[s], one.frees);
      if (std::all_of(rooms[t].begin(), rooms[t].end(), [](int64_t r) { return r >= 0; }))
        visit(s, p + 1, moves + 1);
      add(left[s], one.frees);
      rooms[t] = std::move(before);
    }
  }
  void judge(size_t moves) {
    const auto relieved =
        static_cast<size_t>(std::count_if(left.begin(), left.end(), [](const Loads& one) {
          return std::all_of(one.begin(), one.end(), [](int64_t l) { return l <= 0; });
        }));
    if (relieved < mostRelieved || (relieved == mostRelieved && moves >= fewestMoves)) return;
    mostRelieved = relieved;
    fewestMoves = moves;
  }
};

// Bar: up to six nodes and twelve pods, the number of moves is the optimum of an exhaustive search.
TEST(MinimalPlan, IsTheOptimumOfAnExhaustiveSearch) {
  Rng rng(28);
  const auto below = [&](uint64_t n) { return static_cast<int64_t>(rng.next() % n); };
  for (int round = 0; round < 60; ++round) {
    const size_t hot = 1 + static_cast<size_t>(below(3));
    const size_t cold = 1 + static_cast<size_t>(below(hot == 3 ? 2 : 3));
    const size_t most = 12 / hot - (cold > 2 ? 1 : 0);
    std::vector<HotSource> sources(hot);
    for (HotSource& source : sources) {
      source.excess = {100 + below(900), below(3) == 0 ? 100 + below(600) : 0};
      const auto pods = 1 + below(hot == 1 ? 9 : most);
      for (int64_t i = 0; i < pods; ++i) {
        const Loads usage{50 + below(700), 50 + below(500)};
        source.pods.push_back({usage, usage, static_cast<int>(below(3)), 0, 1.0 * below(100)});
      }
    }
    std::vector<Room> targets(cold);
    for (Room& room : targets) room = {300 + below(1500), 300 + below(1500)};
    const uint64_t salt = rng.next();
    const FitsOn fits = [salt](size_t s, size_t p, size_t t) {
      return ((salt >> ((s * 13 + p * 5 + t * 3) % 61)) & 7U) != 0;
    };
    Exhaustive truth{sources, targets, fits};
    truth.run();
    const MinimalPlan plan = minimalPlan(sources, targets, fits);
    ASSERT_TRUE(plan.isOptimal);
    EXPECT_EQ(sources.size() - plan.unrelieved.size(), truth.mostRelieved) << "round " << round;
    EXPECT_EQ(plan.moves.size(), truth.fewestMoves) << "round " << round;
    if (plan.unrelieved.empty()) {
      EXPECT_GE(plan.moves.size(), plan.lowerBound);
    }
  }
}

TEST(MinimalPlan, ManySourcesStayNearTheLowerBound) {
  Rng rng(5);
  const auto below = [&](uint64_t n) { return static_cast<int64_t>(rng.next() % n); };
  std::vector<HotSource> sources(500);
  for (HotSource& source : sources) {
    source.excess = {500 + below(3000)};
    for (int i = 0; i < 10; ++i) source.pods.push_back(pod(200 + below(2500)));
  }
  const std::vector<Room> targets(200, Room{30'000});
  const MinimalPlan plan = minimalPlan(sources, targets, kEverywhere);
  EXPECT_TRUE(plan.unrelieved.empty());
  EXPECT_LE(static_cast<double>(plan.moves.size()), 1.2 * static_cast<double>(plan.lowerBound));
}

}  // namespace
}  // namespace mangrove::descheduler
