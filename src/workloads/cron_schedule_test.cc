#include "workloads/cron_schedule.h"

#include <gtest/gtest.h>

#include "base/text/time_text.h"

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

}  // namespace
}  // namespace mangrove::workloads
