#include "apiserver/core/event_life.h"

#include <gtest/gtest.h>

namespace mangrove::apiserver {
namespace {

TEST(EventLife, GetsShorterWithNumbers) {
  struct Row {
    size_t present;
    Duration life;
  } rows[] = {
      {0, std::chrono::hours(1)},         {1000, std::chrono::hours(1)},
      {2000, std::chrono::minutes(15)},   {4000, std::chrono::seconds(225)},
      {100'000, std::chrono::minutes(1)},
  };
  for (const auto& row : rows) EXPECT_EQ(eventLife(row.present), row.life) << row.present;
}

TEST(EventLife, SurplusIsWhatIsAboveTheMost) {
  for (auto [present, surplus] :
       {std::pair<size_t, size_t>{0, 0}, {6000, 0}, {6001, 1}, {9000, 3000}})
    EXPECT_EQ(eventSurplus(present), surplus) << present;
}

}  // namespace
}  // namespace mangrove::apiserver
