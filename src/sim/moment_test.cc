#include "sim/moment.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/number/rng.h"

namespace mangrove::sim {
namespace {

MomentPlan plan(BatchPlace place, std::vector<MomentRequest> requests) {
  MomentPlan out;
  out.place = place;
  out.requests = std::move(requests);
  return out;
}

// Some hundred requests a second of a few milliseconds, as the demo has them.
std::vector<MomentRequest> someRequests() {
  Rng rng(7);
  std::vector<MomentRequest> out;
  for (double at = 0; at < 3; at += -std::log(1 - rng.unit()) / 250)
    out.push_back({at, 0.0005 + 0.002 * rng.unit(), 0.001});
  return out;
}

TEST(Moment, OneRequestAloneTakesWhatItTakes) {
  const auto got = liveThrough(plan(BatchPlace::kNone, {{0.1, 0.004, 0.01}}));
  ASSERT_EQ(got.latencies.size(), 1);
  EXPECT_NEAR(got.latencies[0], 0.014, 0.0003);
  EXPECT_EQ(got.batchCores, 0);
}

TEST(Moment, IdleClassYieldsAtOnce) {
  const auto got = liveThrough(plan(BatchPlace::kIdle, {{0.1, 0.004, 0.01}}));
  EXPECT_NEAR(got.latencies[0], 0.014, 0.0003);
  EXPECT_NEAR(got.stalled, 0, 0.0003);
  EXPECT_GT(got.batchCores, 1.9 * got.serviceCores);
}

TEST(Moment, BesideAServiceBatchKeepsItsSlice) {
  const auto got = liveThrough(plan(BatchPlace::kBeside, {{0.1013, 0.004, 0.01}}));
  EXPECT_GT(got.latencies[0], 0.016) << "it waits for the slice of a batch worker";
  EXPECT_GT(got.stalled, 0.002);
}

TEST(Moment, CarelessStallsAreManyTimesTheRest) {
  const auto requests = someRequests();
  const auto alone = liveThrough(plan(BatchPlace::kNone, requests));
  const auto idle = liveThrough(plan(BatchPlace::kIdle, requests));
  const auto beside = liveThrough(plan(BatchPlace::kBeside, requests));
  EXPECT_EQ(alone.latencies.size(), requests.size());
  EXPECT_GT(beside.stalled, 3 * idle.stalled);
  EXPECT_GT(beside.stalled, 3 * alone.stalled);
  EXPECT_LT(idle.percentile(0.99), 1.25 * alone.percentile(0.99));
  EXPECT_NEAR(idle.batchCores + idle.serviceCores, 2, 0.05) << "nothing is left";
  EXPECT_NEAR(beside.batchCores, idle.batchCores, 0.1);
}

TEST(Moment, IsTheSameEveryTime) {
  const auto requests = someRequests();
  EXPECT_EQ(liveThrough(plan(BatchPlace::kBeside, requests)).latencies,
            liveThrough(plan(BatchPlace::kBeside, requests)).latencies);
}

}  // namespace
}  // namespace mangrove::sim
