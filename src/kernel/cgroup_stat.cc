#include "kernel/cgroup_stat.h"

#include <algorithm>
#include <limits>
#include <span>

#include "kernel/scan.h"

namespace mangrove::kernel {
namespace {

constexpr int64_t kNsPerUs = 1000;
constexpr int64_t kLargestNs = std::numeric_limits<int64_t>::max();

// One wanted key of a "key value" file. `found` stays false when the key is missing; a value that
// is no number is an error of its own.
struct Wanted {
  std::string_view key;
  int64_t value = 0;
  bool found = false;
  bool broken = false;
};

void pick(std::string_view text, std::span<Wanted> wanted) {
  for (Lines lines(text); lines.next();) {
    Words words(lines.line);
    if (!words.next()) continue;
    for (Wanted& one : wanted) {
      if (one.key != words.word) continue;
      const auto value = words.number<int64_t>();
      one.found = true;
      one.broken = !value;
      one.value = value.value_or(0);
      break;
    }
  }
}

Result<> complete(std::span<const Wanted> wanted) {
  for (const Wanted& one : wanted) {
    if (!one.found) return invalid("'{}' is missing", one.key);
    if (one.broken) return invalid("'{}' is no number that fits", one.key);
  }
  return {};
}

Result<Duration> micros(const Wanted& wanted) {
  if (wanted.value > kLargestNs / kNsPerUs || wanted.value < -(kLargestNs / kNsPerUs))
    return invalid("'{}' {} µs is out of range", wanted.key, wanted.value);
  return Duration(wanted.value * kNsPerUs);
}

}  // namespace

Result<Duration> parseCpuUsage(std::string_view text, CgroupVersion version) {
  if (version == CgroupVersion::kV1) {
    const auto ns = parseOnly<int64_t>(text);
    if (!ns || *ns < 0) return invalid("cpuacct.usage '{}' is no number of ns", trim(text));
    return Duration(*ns);
  }
  Wanted usage[] = {{"usage_usec"}};
  pick(text, usage);
  if (auto ok = complete(usage); !ok) return ok.error().in("cpu.stat");
  if (usage[0].value < 0) return invalid("cpu.stat: usage_usec {} is negative", usage[0].value);
  return micros(usage[0]);
}

Result<CpuThrottling> parseThrottling(std::string_view text, CgroupVersion version) {
  const bool v1 = version == CgroupVersion::kV1;
  Wanted wanted[] = {{"nr_periods"}, {"nr_throttled"}, {v1 ? "throttled_time" : "throttled_usec"}};
  pick(text, wanted);
  if (auto ok = complete(wanted); !ok) return ok.error().in("cpu.stat");
  Result<Duration> time = v1 ? Result<Duration>(Duration(wanted[2].value)) : micros(wanted[2]);
  if (!time) return time.error().in("cpu.stat");
  return CpuThrottling{wanted[0].value, wanted[1].value, *time};
}

double throttledRatio(const CpuThrottling& before, const CpuThrottling& now) {
  int64_t periods = 0, throttled = 0;
  if (__builtin_sub_overflow(now.periods, before.periods, &periods) || periods <= 0) return 0;
  if (__builtin_sub_overflow(now.throttled, before.throttled, &throttled)) return 0;
  return static_cast<double>(throttled) / static_cast<double>(periods);
}

std::optional<Duration> parseRunQueueWait(std::string_view text) {
  Wanted wait[] = {{"wait_sum"}};
  pick(text, wait);
  if (!wait[0].found || wait[0].broken || wait[0].value < 0) return std::nullopt;
  return Duration(wait[0].value);
}

Result<MemoryUsage> parseMemoryStat(std::string_view text, CgroupVersion version) {
  const bool v1 = version == CgroupVersion::kV1;
  Wanted wanted[] = {{v1 ? "total_inactive_anon" : "inactive_anon"},
                     {v1 ? "total_active_anon" : "active_anon"},
                     {v1 ? "total_unevictable" : "unevictable"},
                     {v1 ? "total_inactive_file" : "inactive_file"},
                     {v1 ? "total_active_file" : "active_file"},
                     {v1 ? "total_cache" : "file"},
                     {v1 ? "total_rss" : "anon"}};
  pick(text, wanted);
  if (auto ok = complete(wanted); !ok) return ok.error().in("memory.stat");
  MemoryUsage usage;
  for (size_t i = 0; i < 5; ++i) {
    if (wanted[i].value < 0)
      return invalid("memory.stat: '{}' is negative: {}", wanted[i].key, wanted[i].value);
    if (i < 3) usage.withoutCache += Bytes{wanted[i].value};
    usage.withCache += Bytes{wanted[i].value};
  }
  return usage;
}

Result<Bytes> parseColdPages(std::string_view text, int boundary) {
  constexpr int kLines = 31, kFirstRow = 14, kColumns = 8;
  const std::string_view body = text.ends_with('\n') ? text.substr(0, text.size() - 1) : text;
  int line = 0;
  Bytes cold;
  for (Lines lines(body); lines.next(); ++line) {
    if (line < kFirstRow || line >= kLines) continue;
    Words words(lines.line);
    if (!words.next()) return invalid("idle_page_stats line {}: empty", line + 1);
    const std::string_view row = words.word;
    const bool counts = row == "cfei" || row == "dfei" || row == "cfui" || row == "dfui";
    for (int column = 0; column < kColumns; ++column) {
      const auto value = words.number<int64_t>();
      if (!value || *value < 0)
        return invalid("idle_page_stats row '{}': column {} is no number", row, column + 1);
      if (counts && column >= boundary) cold += Bytes{*value};
    }
  }
  if (line != kLines) return invalid("idle_page_stats has {} lines, want {}", line, kLines);
  return cold;
}

Result<int64_t> parseMaxOr(std::string_view text, int64_t whenMax) {
  const std::string_view word = trim(text);
  if (word == "max") return whenMax;
  const auto value = parseInt<int64_t>(word);
  if (!value || *value < 0) return invalid("'{}': want a number from 0 or 'max'", word);
  return *value;
}

Result<int64_t> parseMemoryLimit(std::string_view text, CgroupVersion version) {
  // v1 has no word for "none": it shows the largest multiple of the page size.
  constexpr int64_t kUnlimited = 0x7FFFFFFFFFFFF000;
  auto value = parseMaxOr(text, -1);
  if (!value) return value.error().in("memory limit");
  if (version == CgroupVersion::kV1 && *value >= kUnlimited) return -1;
  return *value;
}

Result<Bytes> parseMemoryCurrent(std::string_view text) {
  auto value = parseMaxOr(text, std::numeric_limits<int64_t>::max());
  if (!value) return value.error().in("memory in use");
  return Bytes{*value};
}

CpuMax parseCpuMax(std::string_view text) {
  Words words(text);
  std::string_view parts[2];
  size_t count = 0;
  for (; words.next(); ++count)
    if (count < 2) parts[count] = words.word;
  if (count != 2) {
    const Failure wrong = invalid("cpu.max '{}': want '<quota or max> <period>'", trim(text));
    return {wrong, wrong};
  }
  const auto field = [&](std::string_view word, const char* name) -> Result<int64_t> {
    const auto value = parseInt<int64_t>(word);
    if (!value) return invalid("cpu.max '{}': the {} is no number", trim(text), name);
    return *value;
  };
  const auto quota = parts[0] == "max" ? Result<int64_t>(-1) : field(parts[0], "quota");
  return {quota ? Result<CpuQuota>(CpuQuota::ofUs(*quota)) : pass(quota.error()),
          field(parts[1], "period")};
}

Result<IoTotals> parseIoStat(std::string_view text) {
  IoTotals totals;
  for (Lines lines(text); lines.next();) {
    Words words(lines.line);
    if (!words.next()) continue;  // the device
    while (words.next()) {
      const Halves pair = cut(words.word, '=');
      uint64_t* into = pair.before == "rbytes"   ? &totals.readBytes
                       : pair.before == "wbytes" ? &totals.writeBytes
                       : pair.before == "rios"   ? &totals.readOps
                       : pair.before == "wios"   ? &totals.writeOps
                                                 : nullptr;
      if (into == nullptr) continue;
      const auto value = parseInt<uint64_t>(pair.after);
      if (!value || __builtin_add_overflow(*into, *value, into))
        return invalid("io.stat '{}': '{}' is no count", lines.line, words.word);
    }
  }
  return totals;
}

Result<IoTotals> parseBlkioBytes(std::string_view text) {
  IoTotals totals;
  for (Lines lines(text); lines.next();) {
    Words words(lines.line);
    if (!words.next() || words.word == "Total" || !words.next()) continue;
    uint64_t* into = words.word == "Read"    ? &totals.readBytes
                     : words.word == "Write" ? &totals.writeBytes
                                             : nullptr;
    if (into == nullptr) continue;
    const auto value = words.number<uint64_t>();
    if (!value || __builtin_add_overflow(*into, *value, into))
      return invalid("blkio line '{}': want a count", lines.line);
  }
  return totals;
}

Result<MemoryEvents> parseMemoryEvents(std::string_view text) {
  Wanted wanted[] = {{"low"}, {"high"}, {"max"}, {"oom"}, {"oom_kill"}};
  pick(text, wanted);
  for (const Wanted& one : wanted)
    if (one.broken || one.value < 0) return invalid("memory.events: '{}' is no count", one.key);
  const auto count = [&](size_t i) { return static_cast<uint64_t>(wanted[i].value); };
  return MemoryEvents{count(0), count(1), count(2), count(3), count(4)};
}

}  // namespace mangrove::kernel
