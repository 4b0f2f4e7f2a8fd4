#include "workloads/cron_schedule.h"

#include <gtest/gtest.h>

#include "base/text/time_text.h"
#include "workloads/time_zone.h"

namespace mangrove::workloads {
namespace {

TEST(CronSchedule, FindsTheNextTime) {
  struct Case {
    const char *schedule, *after, *next;
  } cases[] = {
      {"* * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"},
      {"*/15 2-4 * * *", "2026-01-01T04:46:00Z", "2026-01-02T02:00:00Z"},
      {"0 0 1 * *", "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"},
      {"0 12 * * mon-fri", "2026-01-02T12:00:00Z", "2026-01-05T12:00:00Z"},
      {"0 0 29 2 *", "2026-03-01T00:00:00Z", "2028-02-29T00:00:00Z"},
      {"0 0 13 * fri", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"},
      {"30 6 * * 7", "2026-01-01T00:00:00Z", "2026-01-04T06:30:00Z"},
      {"5,35 * * JAN *", "2026-01-01T00:05:00Z", "2026-01-01T00:35:00Z"},
      {"10/20 * * * *", "2026-01-01T00:31:00Z", "2026-01-01T00:50:00Z"},
      {"@daily", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"},
      {"@hourly", "2026-01-01T00:30:30Z", "2026-01-01T01:00:00Z"},
  };
  for (const auto& c : cases) {
    auto schedule = CronSchedule::parse(c.schedule);
    ASSERT_TRUE(schedule) << schedule.error().text();
    auto next = schedule->next(parseTime(c.after).value());
    ASSERT_TRUE(next) << c.schedule;
    EXPECT_EQ(formatTime(*next), c.next) << c.schedule;
  }
}

TEST(CronSchedule, NeverIsAnAnswer) {
  EXPECT_FALSE(CronSchedule::parse("0 0 31 2 *")->next(parseTime("2026-01-01T00:00:00Z").value()));
}

TEST(CronSchedule, NamesWhatIsWrong) {
  for (const char* text :
       {"", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *",
        "* * * * 8", "5-1 * * * *", "*/0 * * * *", "a * * * *", "1,,2 * * * *", "-1 * * * *"}) {
    auto schedule = CronSchedule::parse(text);
    ASSERT_FALSE(schedule) << text;
    EXPECT_NE(schedule.error().text().find("schedule '" + std::string(text) + "'"),
              std::string::npos)
        << schedule.error().text();
  }
}

TEST(TimeZone, RefusesWhatIsNoZone) {
  const WallTime now = parseTime("2026-01-01T00:00:00Z").value();
  EXPECT_EQ(utcOffset("", now), Duration::zero());
  EXPECT_FALSE(utcOffset("../../etc/passwd", now));
  EXPECT_FALSE(utcOffset("Mars/Olympus", now));
  EXPECT_FALSE(utcOffsetIn("TZif", now));
  EXPECT_FALSE(utcOffsetIn(std::string(44, '\0'), now));
}

// A zone file of one change, as RFC 8536 lays it out: +1 h until 2026-03-29T01:00Z, then +2 h.
TEST(TimeZone, FollowsTheChangesOfAZone) {
  auto number = [](uint64_t value, int width) {
    std::string out;
    for (int i = width - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i));
    return out;
  };
  auto block = [&](int width) {
    std::string header = "TZif2" + std::string(15, '\0');
    for (uint64_t count : {0, 0, 0, 1, 2, 4}) header += number(count, 4);
    return header + number(1774746000, width) + std::string(1, '\1') + number(3600, 4) +
           std::string(2, '\0') + number(7200, 4) + std::string("\1\0", 2) + "ABC" + '\0';
  };
  const std::string file = block(4) + block(8) + "\n\n";
  EXPECT_EQ(utcOffsetIn(file, parseTime("2026-03-29T00:59:59Z").value()), std::chrono::hours(1));
  EXPECT_EQ(utcOffsetIn(file, parseTime("2026-03-29T01:00:00Z").value()), std::chrono::hours(2));
}

}  // namespace
}  // namespace mangrove::workloads
