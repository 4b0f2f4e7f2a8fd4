#include "cli/moves_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "descheduler/migration/account.h"

namespace mangrove::cli {
namespace {

using mangrove::descheduler::Sides;
using ::testing::HasSubstr;
using ::testing::Not;

const WallTime kNow{std::chrono::hours(24 * 20'000)};

std::shared_ptr<api::PodMigrationJob> moved(const Sides& before, const Sides& after) {
  auto job = std::make_shared<api::PodMigrationJob>();
  job->spec.podRef.emplace().name = "web-1";
  job->spec.podRef->ns = "shop";
  job->status.phase = "Succeeded";
  mangrove::descheduler::openAccount(job->status, before, kNow);
  mangrove::descheduler::closeAccount(job->status, after, kNow);
  return job;
}

TEST(MovesView, AddsUpWhetherMovesPaid) {
  const Told told = tellMoves(
      {moved({{"hot", 90, 40}, {"cold", 20, 10}, {2, 20, 4, 30}},
             {{"hot", 70, 40}, {"cold", 40, 10}, {2, 4, 0, 12}}),
       moved({{"hot", 80, 40}, {"cold", 30, 10}, {1}}, {{"hot", 85, 40}, {"cold", 40, 10}, {1}})});
  EXPECT_THAT(told.answer, HasSubstr("1 of 2 moves with a closed account paid"));
  EXPECT_THAT(told.answer, HasSubstr("sources lost 7.5 points of CPU load on average"));
  EXPECT_THAT(told.answer,
              HasSubstr("pods wait for CPUs 16.0 points less on average (of 1 measured)"));
  EXPECT_THAT(told.answer, HasSubstr("pods need 18.0 ms less on average (of 1 that report it)"));
  EXPECT_THAT(told.terms, HasSubstr("20.0 -> 4.0"));
  const json::Value& first = told.data.at("moves").as_array().at(0);
  EXPECT_EQ(first.at("podAfter").at("latencyMs").to_number<double>(), 12);
  EXPECT_TRUE(told.data.at("moves").as_array().at(1).at("podBefore").at("waitsPercent").is_null());
}

TEST(MovesView, SaysNothingOfWhatNobodyMeasured) {
  const Told told = tellMoves(
      {moved({{"hot", 90, 40}, {"cold", 20, 10}, {2}}, {{"hot", 70, 40}, {"cold", 40, 10}, {2}})});
  EXPECT_THAT(told.answer, Not(HasSubstr("wait")));
  EXPECT_THAT(tellMoves({}).answer, HasSubstr("no account is closed yet"));
}

}  // namespace
}  // namespace mangrove::cli
