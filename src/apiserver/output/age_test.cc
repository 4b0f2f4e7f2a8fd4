#include "apiserver/output/age.h"

#include <gtest/gtest.h>

#include "apiserver/output/test_support.h"

namespace mangrove::apiserver {
namespace {

struct AgeCase {
  int64_t seconds;
  const char* text;
};

constexpr int64_t kMinute = 60, kHour = 3600, kDay = 86400, kYear = 365 * kDay;
constexpr AgeCase kAgeCases[] = {
    {-2, "<invalid>"},
    {-1, "0s"},
    {0, "0s"},
    {59, "59s"},
    {60, "60s"},
    {119, "119s"},
    {120, "2m"},
    {125, "2m5s"},
    {9 * kMinute + 59, "9m59s"},
    {10 * kMinute + 1, "10m"},
    {179 * kMinute + 59, "179m"},
    {3 * kHour, "3h"},
    {3 * kHour + 12 * kMinute, "3h12m"},
    {8 * kHour + 12 * kMinute, "8h"},
    {47 * kHour + 59 * kMinute, "47h"},
    {2 * kDay, "2d"},
    {3 * kDay + 4 * kHour, "3d4h"},
    {8 * kDay + 4 * kHour, "8d"},
    {2 * kYear - 1, "729d"},
    {2 * kYear, "2y"},
    {3 * kYear + 40 * kDay, "3y40d"},
    {8 * kYear + 40 * kDay, "8y"},
};

TEST(Age, GetsCoarserAsItGrows) {
  for (const auto& c : kAgeCases)
    EXPECT_EQ(humanDuration(std::chrono::seconds(c.seconds)), c.text) << c.seconds;
}

TEST(Age, OfTimestamps) {
  const auto ageOf = [](const char* text) {
    json::Doc doc;
    return ageSince((*doc.parse(text))["t"], fixture::noon());
  };
  EXPECT_EQ(ageOf(R"({"t":"2026-03-01T11:55:00Z"})"), "5m");
  EXPECT_EQ(ageOf(R"({"t":"2026-03-01T11:55:00.250000Z"})"), "4m59s");
  EXPECT_EQ(ageOf(R"({"t":"2026-03-02T11:55:00Z"})"), "<invalid>");
  EXPECT_EQ(ageOf(R"({"t":"0001-01-01T00:00:00Z"})"), "<unknown>");
  EXPECT_EQ(ageOf(R"({"t":"1600-01-01T00:00:00Z"})"), "200y");
  EXPECT_EQ(ageOf(R"({"t":"soon"})"), "<unknown>");
  EXPECT_EQ(ageOf(R"({"t":null})"), "<unknown>");
  EXPECT_EQ(ageOf("{}"), "<unknown>");
}

}  // namespace
}  // namespace mangrove::apiserver
