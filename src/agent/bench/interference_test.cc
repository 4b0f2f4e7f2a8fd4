#include "agent/bench/interference.h"

#include <set>

#include <gtest/gtest.h>

namespace mangrove::agent {
namespace {

TriedPod pod(bool guilty, const char* verdict, double correlation) {
  TriedPod out;
  out.guilty = guilty;
  out.verdict = verdict;
  out.correlation = correlation;
  return out;
}

TEST(InterferenceBench, CountsAccusations) {
  InterferenceBench bench;
  bench.cases.resize(2);
  bench.cases[0].pods = {pod(true, "guilty", 0.1), pod(false, "innocent", 0.4)};
  bench.cases[1].pods = {pod(true, "not known", 0.4), pod(false, "guilty", 0.0)};
  const Accuracy ours = byExperiment(bench);
  EXPECT_EQ(ours.guilty, 2u);
  EXPECT_EQ(ours.innocent, 2u);
  EXPECT_DOUBLE_EQ(ours.precision(), 0.5);
  EXPECT_DOUBLE_EQ(ours.recall(), 0.5);
  EXPECT_DOUBLE_EQ(byCorrelation(bench, 0.35).precision(), 0.5);
  EXPECT_DOUBLE_EQ(byCorrelation(bench, 0.9).precision(), 1) << "nobody is accused";
  EXPECT_DOUBLE_EQ(byCorrelation(bench, 0.9).recall(), 0);
  EXPECT_NE(toTable(bench).find("2 guilty and 2 innocent"), std::string::npos);
  EXPECT_NE(toJson(bench).find("\"precision\""), std::string::npos);
}

TEST(InterferenceBench, PlansEveryVictimBesideADecoy) {
  std::set<Sufferer> victims;
  for (int64_t i = 0; i < 20; ++i) {
    const CasePlan plan = planOf(1, i);
    victims.insert(plan.victim);
    EXPECT_FALSE(isDecoy(plan.culprit));
    EXPECT_TRUE(isDecoy(plan.decoy));
  }
  EXPECT_EQ(victims.size(), std::size(kVictims));
}

TEST(LatencyPage, IsAHistogramOfPrometheus) {
  auto page = LatencyPage::make();
  ASSERT_TRUE(page);
  for (int i = 0; i < 99; ++i) (*page)->note(1);
  (*page)->note(100);
  const auto read = stats::readHistogram((*page)->text(), "request_seconds", "");
  ASSERT_TRUE(read);
  EXPECT_EQ(stats::countOf(*read), 100);
  EXPECT_NEAR(*stats::quantileOf(*read, 0.5), 0.001, 0.0001);
  EXPECT_NEAR(*stats::quantileOf(*read, 0.999), 0.1, 0.006);
}

}  // namespace
}  // namespace mangrove::agent
