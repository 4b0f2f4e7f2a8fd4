#include "base/text/time_text.h"

#include <vector>

#include <gtest/gtest.h>

namespace mangrove {
namespace {

using std::chrono::microseconds;

WallTime at(int64_t seconds, int64_t micros = 0) {
  return WallTime(microseconds(seconds * 1000000 + micros));
}

TEST(TimeTextTest, ReadsRfc3339) {
  struct Row {
    const char* text;
    WallTime want;
  };
  for (const Row& row : std::vector<Row>{{"1970-01-01T00:00:00Z", at(0)},
                                         {"2026-03-01T12:00:00Z", at(1772366400)},
                                         {"2026-03-01T13:00:00+01:00", at(1772366400)},
                                         {"2026-03-01T06:30:00-05:30", at(1772366400)},
                                         {"2026-03-01T12:00:00.25Z", at(1772366400, 250000)},
                                         {"2026-03-01T12:00:00.123456789Z", at(1772366400, 123456)},
                                         {"2026-03-01T12:00:00.000001+00:00", at(1772366400, 1)},
                                         {"2026-03-01T12:00:00,5Z", at(1772366400, 500000)},
                                         {"2026-03-01T9:00:00Z", at(1772355600)},
                                         {"2024-02-29T00:00:00Z", at(1709164800)},
                                         {"1969-12-31T23:59:59.5Z", at(-1, 500000)},
                                         {"0001-01-01T00:00:00Z", kZeroTime},
                                         {"9999-12-31T23:59:59Z", at(253402300799)}}) {
    const auto parsed = parseTime(row.text);
    ASSERT_TRUE(parsed) << row.text << ": " << parsed.error().text();
    EXPECT_EQ(*parsed, row.want) << row.text;
  }
}

TEST(TimeTextTest, RefusesAndSaysWhichPartIsWrong) {
  struct Row {
    const char* text;
    const char* part;
  };
  for (const Row& row : std::vector<Row>{{"", "year"},
                                         {"now", "year"},
                                         {"2026-13-01T00:00:00Z", "month"},
                                         {"2026-00-01T00:00:00Z", "month"},
                                         {"2026-02-30T00:00:00Z", "day"},
                                         {"2025-02-29T00:00:00Z", "day"},
                                         {"2026-03-01 12:00:00Z", "'T' between date and time"},
                                         {"2026-03-01T24:00:00Z", "hour"},
                                         {"2026-03-01T12:60:00Z", "minute"},
                                         {"2026-03-01T12:00:60Z", "second"},
                                         {"2026-03-01T12:00:00", "zone"},
                                         {"2026-03-01T12:00:00.Z", "zone"},
                                         {"2026-03-01T12:00:00z", "zone"},
                                         {"2026-03-01T12:00:00+0100", "zone"},
                                         {"2026-03-01T12:00:00+24:00", "zone"},
                                         {"2026-03-01T12:00:00Zx", "zone"},
                                         {"2026-03-01", "'T' between date and time"}}) {
    const auto parsed = parseTime(row.text);
    ASSERT_FALSE(parsed) << row.text;
    EXPECT_NE(parsed.error().text().find(std::string("the ") + row.part + " is wrong"),
              std::string::npos)
        << parsed.error().text();
  }
}

TEST(TimeTextTest, WritesSecondsOrMicroseconds) {
  EXPECT_EQ(formatTime(at(1772366400, 999999)), "2026-03-01T12:00:00Z");
  EXPECT_EQ(formatMicroTime(at(1772366400, 250000)), "2026-03-01T12:00:00.250000Z");
  EXPECT_EQ(formatMicroTime(at(1772366400)), "2026-03-01T12:00:00.000000Z");
  EXPECT_EQ(formatTime(kZeroTime), "0001-01-01T00:00:00Z");
  EXPECT_EQ(formatMicroTime(at(-1, 500000)), "1969-12-31T23:59:59.500000Z");
}

TEST(TimeTextTest, RoundTrip) {
  for (int64_t second = -62135596800; second < 253402300799; second += 86400 * 1234 + 4567) {
    const WallTime time = at(second, second & 0xFFFF);
    EXPECT_EQ(parseTime(formatMicroTime(time)).value(), time) << second;
  }
}

TEST(DurationTextTest, ReadsAsGoDoes) {
  struct Row {
    const char* text;
    int64_t nanoseconds;
  };
  constexpr int64_t kSecond = 1000000000;
  for (const Row& row : std::vector<Row>{{"0", 0},
                                         {"+0", 0},
                                         {"-0", 0},
                                         {"0s", 0},
                                         {"5s", 5 * kSecond},
                                         {"+5s", 5 * kSecond},
                                         {"-1s", -kSecond},
                                         {"5m0s", 300 * kSecond},
                                         {"1h30m", 5400 * kSecond},
                                         {"1.5h", 5400 * kSecond},
                                         {"100ms", 100000000},
                                         {"1us", 1000},
                                         {"1\u00b5s", 1000},
                                         {"1\u03bcs", 1000},
                                         {"1ns", 1},
                                         {".5s", kSecond / 2},
                                         {"5.s", 5 * kSecond},
                                         {"1s1s", 2 * kSecond},
                                         {"3ns2h", 7200 * kSecond + 3},
                                         {"0.3333333333333333333h", 20 * 60 * kSecond},
                                         {"0.9223372036854775807h", 3320413933267},
                                         {"0.5ns", 0},
                                         {"9223372036854775807ns", INT64_MAX},
                                         {"-9223372036854775808ns", INT64_MIN},
                                         {"2562047h47m16.854775807s", INT64_MAX}}) {
    const auto parsed = parseDuration(row.text);
    ASSERT_TRUE(parsed) << row.text << ": " << parsed.error().text();
    EXPECT_EQ(parsed->count(), row.nanoseconds) << row.text;
  }
}

TEST(DurationTextTest, RefusesWithASentence) {
  struct Row {
    const char* text;
    const char* part;
  };
  for (const Row& row : std::vector<Row>{{"", "want numbers with units"},
                                         {"3", "a unit is missing"},
                                         {"1.5", "a unit is missing"},
                                         {"-", "want numbers with units"},
                                         {"s", "want numbers with units"},
                                         {".s", "want numbers with units"},
                                         {"1d", "unknown unit 'd'"},
                                         {"1 s", "unknown unit ' s'"},
                                         {"1h-30m", "unknown unit 'h-'"},
                                         {"9223372036854775808ns", "out of range"},
                                         {"2562048h", "out of range"},
                                         {"99999999999999999999s", "out of range"},
                                         {"2562047h47m16.854775808s", "out of range"},
                                         {"-9223372036854775809ns", "out of range"}}) {
    const auto parsed = parseDuration(row.text);
    ASSERT_FALSE(parsed) << row.text;
    EXPECT_NE(parsed.error().text().find(row.part), std::string::npos) << parsed.error().text();
  }
}

TEST(DurationTextTest, WritesAsGoDoes) {
  struct Row {
    int64_t nanoseconds;
    const char* text;
  };
  for (const Row& row : std::vector<Row>{{0, "0s"},
                                         {1, "1ns"},
                                         {1100, "1.1\u00b5s"},
                                         {2200000, "2.2ms"},
                                         {100000000, "100ms"},
                                         {3300000000, "3.3s"},
                                         {60000000000, "1m0s"},
                                         {300000000000, "5m0s"},
                                         {245001000000, "4m5.001s"},
                                         {5400000000000, "1h30m0s"},
                                         {18367001000000, "5h6m7.001s"},
                                         {480000000001, "8m0.000000001s"},
                                         {-1000000000, "-1s"},
                                         {INT64_MAX, "2562047h47m16.854775807s"},
                                         {INT64_MIN, "-2562047h47m16.854775808s"}}) {
    EXPECT_EQ(formatDuration(Duration(row.nanoseconds)), row.text);
    EXPECT_EQ(parseDuration(row.text).value(), Duration(row.nanoseconds)) << row.text;
  }
}

}  // namespace
}  // namespace mangrove
