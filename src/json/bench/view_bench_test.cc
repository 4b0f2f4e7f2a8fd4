#include "json/bench/view_bench.h"

#include <gtest/gtest.h>

#include "json/view.h"

namespace mangrove::json {
namespace {

TEST(ViewBench, ReadsEveryPod) {
  const std::string text = podListText(100);
  Doc doc;
  auto root = doc.parse(text);
  ASSERT_TRUE(root) << root.error().text();
  EXPECT_EQ((*root)["items"].size(), 100u);
  EXPECT_EQ((*root)["items"].at(99)["metadata"]["name"].string(), "web-99");
}

TEST(ViewBench, LooksAtEveryField) {
  VirtualClock clock;
  const auto result = benchmarkReading(10, clock);
  EXPECT_EQ(result.pods, 10u);
  EXPECT_EQ(result.found, 10u * 11);
}

}  // namespace
}  // namespace mangrove::json
