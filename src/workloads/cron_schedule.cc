#include "workloads/cron_schedule.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/text/strings.h"

namespace mangrove::workloads {
namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::hours;
using std::chrono::minutes;

constexpr std::array<std::string_view, 12> kMonths = {"jan", "feb", "mar", "apr", "may", "jun",
                                                      "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> kWeekdays = {"sun", "mon", "tue", "wed",
                                                       "thu", "fri", "sat"};
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kMacros = {{
    {"@yearly", "0 0 1 1 *"},
    {"@annually", "0 0 1 1 *"},
    {"@monthly", "0 0 1 * *"},
    {"@weekly", "0 0 * * 0"},
    {"@daily", "0 0 * * *"},
    {"@midnight", "0 0 * * *"},
    {"@hourly", "0 * * * *"},
}};

struct FieldRule {
  std::string_view name;
  int lowest, highest;
  std::vector<std::string_view> words;
  int firstWord = 0;  // the number of the first word
};

std::optional<int> number(std::string_view text, const FieldRule& rule) {
  if (auto value = parseInt<int>(text)) return value;
  const auto at = std::find(rule.words.begin(), rule.words.end(), lower(text));
  if (at == rule.words.end()) return std::nullopt;
  return static_cast<int>(at - rule.words.begin()) + rule.firstWord;
}

Failure wrong(std::string_view part, const FieldRule& rule) {
  return invalid("'{}' is no {} of a schedule; want *, {}-{}, a range a-b, a step /n or a list",
                 part, rule.name, rule.lowest, rule.highest);
}

struct Range {
  int first, last, step;
};

Result<Range> parseRange(std::string_view part, const FieldRule& rule) {
  const Halves stepped = cut(part, '/');
  Range range{rule.lowest, rule.highest, 1};
  if (stepped.found) {
    auto step = parseInt<int>(stepped.after);
    if (!step || *step < 1) return wrong(part, rule);
    range.step = *step;
  }
  if (stepped.before == "*" || stepped.before == "?") return range;
  const Halves ends = cut(stepped.before, '-');
  auto first = number(ends.before, rule);
  if (!first) return wrong(part, rule);
  range.first = *first;
  range.last = stepped.found ? rule.highest : *first;
  if (ends.found) {
    auto last = number(ends.after, rule);
    if (!last) return wrong(part, rule);
    range.last = *last;
  }
  const bool inside = range.first >= rule.lowest && range.last <= rule.highest;
  if (!inside || range.first > range.last) return wrong(part, rule);
  return range;
}

template <size_t N>
Result<> fill(std::string_view text, const FieldRule& rule, std::bitset<N>& out) {
  for (std::string_view part : split(text, ',')) {
    auto range = parseRange(part, rule);
    if (!range) return pass(range.error());
    for (int i = range->first; i <= range->last; i += range->step)
      out.set(static_cast<size_t>(i) % N);
  }
  return {};
}

std::string expand(std::string_view text) {
  for (const auto& [macro, meaning] : kMacros)
    if (equalIgnoringCase(text, macro)) return std::string(meaning);
  return std::string(text);
}

}  // namespace

Result<CronSchedule> CronSchedule::parse(std::string_view text) {
  const std::string expanded = expand(trim(text));
  const auto parts = splitTrimmed(expanded, ' ');
  if (parts.size() != 5)
    return invalid(
        "schedule '{}': found {} fields, want 5 (minute hour day month weekday) or @daily and the "
        "like",
        text, parts.size());
  const FieldRule minute{"minute", 0, 59, {}, 0}, hour{"hour", 0, 23, {}, 0},
      day{"day of month", 1, 31, {}, 0};
  const FieldRule month{"month", 1, 12, {kMonths.begin(), kMonths.end()}, 1};
  const FieldRule weekday{"day of week", 0, 7, {kWeekdays.begin(), kWeekdays.end()}, 0};
  CronSchedule out;
  Result<> done = fill(parts[0], minute, out.minutes_);
  if (done) done = fill(parts[1], hour, out.hours_);
  if (done) done = fill(parts[2], day, out.days_);
  if (done) done = fill(parts[3], month, out.months_);
  if (done) done = fill(parts[4], weekday, out.weekdays_);  // 7 is Sunday again
  if (!done) return done.error().in("schedule '{}'", text);
  out.anyDay_ = parts[2].front() == '*' || parts[2].front() == '?';
  out.anyWeekday_ = parts[4].front() == '*' || parts[4].front() == '?';
  return out;
}

bool CronSchedule::dayMatches(WallTime day) const {
  const std::chrono::year_month_day date(floor<days>(day));
  if (!months_.test(static_cast<unsigned>(date.month()))) return false;
  const bool byDay = days_.test(static_cast<unsigned>(date.day()));
  const bool byWeekday = weekdays_.test(std::chrono::weekday(floor<days>(day)).c_encoding());
  if (anyDay_ || anyWeekday_) return byDay && byWeekday;
  return byDay || byWeekday;
}

std::optional<WallTime> CronSchedule::next(WallTime after) const {
  WallTime at = floor<minutes>(after) + minutes(1);
  const WallTime limit = after + days(366 * 5);  // 29 February comes at least that often
  while (at < limit) {
    if (!dayMatches(at)) {
      at = floor<days>(at) + days(1);
      continue;
    }
    const auto ofDay = floor<minutes>(at - floor<days>(at));
    if (!hours_.test(static_cast<size_t>(ofDay / hours(1)))) {
      at = floor<hours>(at) + hours(1);
      continue;
    }
    if (minutes_.test(static_cast<size_t>(ofDay.count() % 60))) return at;
    at += minutes(1);
  }
  return std::nullopt;
}

}  // namespace mangrove::workloads
