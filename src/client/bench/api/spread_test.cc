#include "client/bench/api/spread.h"

#include <gtest/gtest.h>

namespace mangrove::client {
namespace {

TEST(Spread, MedianLowestAndHighest) {
  const Spread odd = spreadOf({3, 1, 2});
  EXPECT_EQ(odd.median, 2);
  EXPECT_EQ(odd.low, 1);
  EXPECT_EQ(odd.high, 3);
  EXPECT_EQ(spreadOf({7}).median, 7);
  EXPECT_EQ(spreadOf({}).high, 0);
}

TEST(Spread, QuantilesAreValuesThatWereSeen) {
  std::vector<double> hundred;
  for (int i = 1; i <= 100; ++i) hundred.push_back(i);
  EXPECT_EQ(quantileOf(hundred, 0.5), 50);
  EXPECT_EQ(quantileOf(hundred, 0.99), 99);
  EXPECT_EQ(quantileOf(hundred, 1), 100);
  EXPECT_EQ(quantileOf({}, 0.5), 0);
}

TEST(Report, JsonNamesEveryMeasure) {
  ApiBenchResult result;
  result.server = "127.0.0.1:1";
  ApiMeasure creates;
  creates.name = "create pods";
  creates.perSecond = {4000, 3900, 4100};
  result.measures.push_back(creates);
  const std::string text = toJson(result);
  EXPECT_NE(text.find("\"create pods\""), std::string::npos);
  EXPECT_NE(text.find("4000"), std::string::npos);
  EXPECT_NE(toTable(result).find("create pods"), std::string::npos);
}

}  // namespace
}  // namespace mangrove::client
