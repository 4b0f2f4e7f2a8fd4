#include "agent/interference/acquittals.h"

#include <gtest/gtest.h>

#include "json/value.h"

namespace mangrove::agent::interference {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

WallTime at(Duration since) {
  return WallTime{hours(500'000)} + std::chrono::duration_cast<WallTime::duration>(since);
}

TEST(Acquittals, LastLongerEachTime) {
  Acquittals all;
  EXPECT_FALSE(all.holds("web", "sort", at({})));
  all.add("web", "sort", at({}), minutes(30));
  EXPECT_TRUE(all.holds("web", "sort", at(minutes(29))));
  EXPECT_FALSE(all.holds("web", "sort", at(minutes(31))));
  EXPECT_FALSE(all.holds("db", "sort", at({}))) << "of this service only";
  all.add("web", "sort", at(minutes(31)), minutes(30));
  EXPECT_TRUE(all.holds("web", "sort", at(minutes(90))));
  EXPECT_FALSE(all.holds("web", "sort", at(minutes(92))));
  for (int i = 0; i < 20; ++i) all.add("web", "sort", at(hours(2)), minutes(30));
  EXPECT_TRUE(all.holds("web", "sort", at(hours(13))));
  EXPECT_FALSE(all.holds("web", "sort", at(hours(15)))) << "never for more than half a day";
}

TEST(Acquittals, AreKeptOverARestartAndForgottenADayLater) {
  Acquittals all, next;
  all.add("web", "sort", at({}), minutes(30));
  next.restore(all.state());
  EXPECT_TRUE(next.holds("web", "sort", at(minutes(29))));
  next.add("web", "sort", at(minutes(40)), minutes(30));
  EXPECT_TRUE(next.holds("web", "sort", at(minutes(90)))) << "it was the second";
  next.age(at(hours(20)));
  EXPECT_EQ(next.size(), 1u);
  next.age(at(hours(26)));
  EXPECT_EQ(next.size(), 0u);
  for (const char* text :
       {"null", "{}", "[1]", R"([{"suspect":"a"}])", R"([{"suspect":"a","until":"x","times":1}])"})
    next.restore(json::parse(text).value());
  EXPECT_EQ(next.size(), 0u);
}

}  // namespace
}  // namespace mangrove::agent::interference
