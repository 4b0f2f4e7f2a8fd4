#include "descheduler/plan/movable.h"

#include <gtest/gtest.h>

#include "api/wire/decode.h"
#include "base/text/time_text.h"

namespace mangrove::descheduler {
namespace {

api::Pod pod(const char* meta, int priority) {
  return *api::decodeText<api::Pod>(
      R"({"metadata":)" + std::string(meta) + R"(,"spec":{"priority":)" + std::to_string(priority) +
      R"(,"containers":[{"name":"c","resources":{"requests":{"cpu":"2"}}}]},
          "status":{"startTime":"2026-03-01T00:00:00Z"}})");
}

TEST(Movable, SaysWhatEverybodySaysOfLostWork) {
  const WallTime now = *parseTime("2026-03-01T01:00:00Z");
  const api::Pod saves = pod(
      R"({"name":"saves","annotations":{"colocation.mangrove.io/checkpoint":"{\"mode\":\"signal\",\"restartSeconds\":10}",
          "colocation.mangrove.io/checkpoint-last":"2026-03-01T00:59:00Z"}})",
      5500);
  const api::Pod loses = pod(
      R"({"name":"loses","annotations":{"colocation.mangrove.io/checkpoint":"{\"mode\":\"none\"}"}})",
      5500);
  const auto out =
      movablePods(std::vector<AtStake>{{&saves, {7}, {9}}, {&loses, {1}, {1}, 1.0}}, now);
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(out[0].frees, Loads{7});
  EXPECT_EQ(out[0].needs, Loads{9});
  EXPECT_EQ(out[0].priority, 5500);
  EXPECT_DOUBLE_EQ(out[0].cost, 2 * 60 + 2 * 10);       // a minute of two cores, and the restart
  EXPECT_DOUBLE_EQ(out[1].cost, 1 * 3600 + 1 * 180.0);  // an hour of the one core it works with
}

TEST(Movable, TheHighestThatHasToLeaveCountsFirst) {
  Loss service, batch, lighter;
  service.add({{}, {}, 4, 0, 1});
  batch.add({{}, {}, 2, 0, 100});
  batch.add({{}, {}, 2, 0, 100});
  lighter.add({{}, {}, 2, 0, 100});
  lighter.add({{}, {}, 2, 0, 99});
  EXPECT_LT(batch, service);
  EXPECT_LT(lighter, batch);
  EXPECT_FALSE(batch < lighter);
}

}  // namespace
}  // namespace mangrove::descheduler
