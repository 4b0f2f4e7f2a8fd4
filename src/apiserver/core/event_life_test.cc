#include "apiserver/core/event_life.h"

#include <gtest/gtest.h>

namespace mangrove::apiserver {
namespace {

TEST(EventLife, GetsShorterWithNumbers) {
  struct Row {
    size_t present;
    Duration life;
  } rows[] = {
      {0, std::chrono::hours(1)},         {2000, std::chrono::hours(1)},
      {4000, std::chrono::minutes(15)},   {8000, std::chrono::seconds(225)},
      {100'000, std::chrono::minutes(1)},
  };
  for (const auto& row : rows) EXPECT_EQ(eventLife(row.present), row.life) << row.present;
}

}  // namespace
}  // namespace mangrove::apiserver
