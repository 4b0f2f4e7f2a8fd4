#include "up/node_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mangrove::up {
namespace {

using ::testing::HasSubstr;

TEST(NodeMetrics, SayWhatAKubeletSays) {
  workloads::UsageBoard board;
  const WallTime noon{std::chrono::seconds(1'800'000'000)};
  for (int i = 0; i < 3; ++i) {
    board.note(noon + std::chrono::seconds(i), {{"d", "web", {{"app", 0.5, 1024}}, {}}});
    board.noteNode(noon + std::chrono::seconds(i), "n", 1.5, 4096);
  }
  const std::string text = resourceMetrics(board.nodes(), board.pods());
  for (const char* line :
       {"container_cpu_usage_seconds_total{container=\"app\",namespace=\"d\",pod=\"web\"} 1 "
        "1800000002000\n",
        "container_memory_working_set_bytes{container=\"app\",namespace=\"d\",pod=\"web\"} 1024 ",
        "pod_cpu_usage_seconds_total{namespace=\"d\",pod=\"web\"} 1 ",
        "node_cpu_usage_seconds_total 3 ", "node_memory_working_set_bytes 4096 ",
        "resource_scrape_error 0\n"})
    EXPECT_THAT(text, HasSubstr(line));
  EXPECT_THAT(cadvisorMetrics(board.pods()),
              HasSubstr("container_cpu_usage_seconds_total{container=\"app\",cpu=\"total\","));
  const json::Value summary = statsSummary(board.nodes(), board.pods());
  EXPECT_EQ(summary.at("node").at("nodeName"), "n");
  EXPECT_EQ(summary.at("node").at("cpu").at("usageCoreNanoSeconds"), 3'000'000'000);
  EXPECT_EQ(summary.at("pods").at(0).at("containers").at(0).at("memory").at("workingSetBytes"),
            1024);
}

}  // namespace
}  // namespace mangrove::up
