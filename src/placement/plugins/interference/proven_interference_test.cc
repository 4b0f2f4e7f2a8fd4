#include "placement/plugins/interference/proven_interference.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text/time_text.h"
#include "placement/testing/lab.h"

namespace mangrove::placement {
namespace {

using std::chrono::hours;

const WallTime kNow = *parseTime("2026-03-01T12:00:00Z");

TEST(PairWeights, ThreeEpisodesOnTwoNodesWithinAWeek) {
  const api::ProvenPair now{"shop/web", "batch/sort", kNow};
  const std::pair<std::string, std::string> key{"shop/web", "batch/sort"};
  EXPECT_TRUE(weigh({{"a", {now, now}}}, kNow).empty()) << "two episodes";
  EXPECT_TRUE(weigh({{"a", {now, now, now}}}, kNow).empty()) << "one node";
  EXPECT_DOUBLE_EQ(weigh({{"a", {now, now}}, {"b", {now}}}, kNow).at(key), 3);
  const PairWeights later =
      weigh({{"a", {now, now}}, {"b", {now}}}, kNow + hours(24 * 7) - hours(1));
  EXPECT_NEAR(later.at(key), 1.5, 0.02) << "half after a week";
  EXPECT_TRUE(weigh({{"a", {now, now}}, {"b", {now}}}, kNow + hours(24 * 8)).empty());
}

TEST(PairWeights, TenPointsEach) {
  EXPECT_EQ(pairScore(0), 100);
  EXPECT_EQ(pairScore(3), 70);
  EXPECT_EQ(pairScore(50), 0);
}

std::string node(std::string_view name, std::string_view pairs) {
  return fmt::format(R"({{"metadata":{{"name":"{}","annotations":{{"{}":{}}}}},)"
                     R"("status":{{"allocatable":{{"cpu":"4","memory":"8Gi","pods":"110"}}}}}})",
                     name, api::kProvenPairs, json::write(json::Value(std::string(pairs))));
}

std::string pod(std::string_view name, std::string_view app, std::string_view on = "") {
  return fmt::format(
      R"({{"metadata":{{"name":"{}","namespace":"shop","labels":{{"app":"{}"}}}},)"
      R"("spec":{{{}"containers":[{{"name":"c","resources":{{"requests":{{"cpu":"100m"}}}}}}]}}}})",
      name, app, on.empty() ? "" : fmt::format(R"("nodeName":"{}",)", on));
}

// Two nodes alike but for a load that would make n1 the better one.
std::string chosenFor(const char* app, bool enabled, WallTime at) {
  SchedulerConfig config;
  config.profiles.push_back(kubernetesProfile("default-scheduler"));
  if (enabled)
    for (const char* point : {"preScore", "score"})
      config.profiles[0].points[point].push_back({"ProvenInterference", 10});
  Lab lab(config);
  const std::string pairs =
      api::provenPairsText({{"shop/web", "shop/sort", at}, {"shop/web", "shop/sort", at}});
  lab.node(node("n1", pairs));
  lab.node(node("n2", pairs));
  lab.pod(pod("sort", "sort", "n1"));
  for (int i = 0; i < 3; ++i) lab.pod(pod(fmt::format("other-{}", i), "other", "n2"));
  lab.run();
  lab.pod(pod("new", app));
  lab.run();
  return lab.nodeOf("shop/new");
}

TEST(ProvenInterference, KeepsProvenPairsApart) {
  const WallTime now = Lab().clock().wall();
  EXPECT_EQ(chosenFor("web", false, now), "n1") << "the emptier one, by default";
  EXPECT_EQ(chosenFor("web", true, now), "n2");
  EXPECT_EQ(chosenFor("third", true, now), "n1") << "nothing was proved of it";
  EXPECT_EQ(chosenFor("web", true, now - hours(24 * 30)), "n1") << "long ago";
}

}  // namespace
}  // namespace mangrove::placement
