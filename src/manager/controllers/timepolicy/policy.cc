#include "manager/controllers/timepolicy/policy.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "base/text/strings.h"

namespace mangrove::manager {

using api::field;
using api::Fields;
using api::In;

static bool read(const In& in, TimeMode& out) {
  static constexpr Fields fields{field<&TimeMode::mode>("mode"), field<&TimeMode::ratio>("ratio")};
  return fields.read(in, out);
}
static bool read(const In& in, TimeWindow& out) {
  static constexpr Fields fields{
      field<&TimeWindow::name>("name"),         field<&TimeWindow::days>("days"),
      field<&TimeWindow::start>("start"),       field<&TimeWindow::end>("end"),
      field<&TimeWindow::timezone>("timezone"), field<&TimeWindow::gracePeriod>("gracePeriod"),
  };
  return read(in, static_cast<TimeMode&>(out)) && fields.read(in, out);
}
static bool read(const In& in, TimePolicySpec::Cpu& out) {
  using Cpu = TimePolicySpec::Cpu;
  static constexpr Fields fields{field<&Cpu::safePercent>("safePercent"),
                                 field<&Cpu::bufferCores>("bufferCores")};
  return fields.read(in, out);
}
static bool read(const In& in, TimePolicySpec::Memory& out) {
  static constexpr Fields fields{field<&TimePolicySpec::Memory::safePercent>("safePercent")};
  return fields.read(in, out);
}
static bool read(const In& in, TimePolicySpec& out) {
  static constexpr Fields fields{
      field<&TimePolicySpec::nodeSelector>("nodeSelector"),
      field<&TimePolicySpec::cpu>("cpu"),
      field<&TimePolicySpec::memory>("memory"),
      field<&TimePolicySpec::windows>("windows"),
      field<&TimePolicySpec::defaultMode>("default"),
      field<&TimePolicySpec::drainTaint>("drainTaint"),
  };
  return fields.read(in, out);
}
bool read(const In& in, TimePolicy& out) {
  static constexpr Fields fields{field<&TimePolicy::meta>("metadata"),
                                 field<&TimePolicy::spec>("spec")};
  return fields.read(in, out);
}

namespace {

constexpr std::array<std::string_view, 7> kDays = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
constexpr std::chrono::minutes kDay = std::chrono::hours(24);

Result<double> factorOf(const TimeMode& mode, std::string_view where) {
  if (mode.mode == "Full") return 1.0;
  if (mode.mode == "Off") return 0.0;
  if (mode.mode != "Ratio")
    return invalid("{}: mode '{}': want Off, Ratio or Full", where, mode.mode);
  if (!mode.ratio || *mode.ratio < 0 || *mode.ratio > 1)
    return invalid("{}: mode Ratio: want a ratio from 0 to 1", where);
  return *mode.ratio;
}

Result<std::chrono::minutes> clockTime(std::string_view text, std::string_view where) {
  const auto [hours, minutes, found] = cut(text, ':');
  const auto h = parseInt<int>(hours), m = parseInt<int>(minutes);
  if (!found || !h || !m || *h < 0 || *h > 24 || *m < 0 || *m > 59 || *h * 60 + *m > 24 * 60)
    return invalid("{}: '{}': want a time such as 01:30", where, text);
  return std::chrono::minutes(*h * 60 + *m);
}

Result<uint8_t> dayMask(const std::vector<std::string>& days, std::string_view where) {
  if (days.empty()) return uint8_t{0x7f};
  uint8_t mask = 0;
  for (const auto& day : days) {
    const auto at = std::find_if(kDays.begin(), kDays.end(), [&](std::string_view known) {
      return equalIgnoringCase(std::string_view(day).substr(0, 3), known);
    });
    if (at == kDays.end()) return invalid("{}: day '{}': want Mon, Tue … Sun", where, day);
    mask = static_cast<uint8_t>(mask | (1 << (at - kDays.begin())));
  }
  return mask;
}

Result<CompiledWindow> compileWindow(const TimeWindow& window, size_t index) {
  const std::string where = fmt::format("windows[{}] '{}'", index, window.name);
  CompiledWindow out;
  out.name = window.name;
  const auto factor = factorOf(window, where);
  const auto start = clockTime(window.start, where + " start");
  const auto end = clockTime(window.end, where + " end");
  const auto days = dayMask(window.days, where);
  auto zone = TimeZone::load(window.timezone);
  if (!factor) return pass(factor.error());
  if (!start) return pass(start.error());
  if (!end) return pass(end.error());
  if (!days) return pass(days.error());
  if (!zone) return zone.error().in("{}", where);
  out.factor = *factor;
  out.start = *start;
  out.length = *end > *start ? *end - *start : *end + kDay - *start;
  out.days = *days;
  out.zone = std::move(*zone);
  out.grace = window.gracePeriod;
  return out;
}

struct Span {
  WallTime from, to;
};

// The occurrences of a window around a moment: those that started up to two days before and begin
// within the next eight.
std::vector<Span> spansAround(const CompiledWindow& window, WallTime now) {
  std::vector<Span> out;
  const WallTime local = now + window.zone.offsetAt(now);
  const auto today = std::chrono::floor<std::chrono::days>(local);
  for (int d = -2; d <= 8; d++) {
    const auto day = today + std::chrono::days(d);
    const unsigned weekday = std::chrono::weekday(day).iso_encoding() - 1;  // 0 is Monday
    if (!(window.days >> weekday & 1)) continue;
    const WallTime start = WallTime(day) + window.start;
    out.push_back({window.zone.momentOf(start), window.zone.momentOf(start + window.length)});
  }
  return out;
}

struct Mode {
  double factor;
  const CompiledWindow* window;  // null: the default
};

Mode modeAt(const CompiledPolicy& policy, WallTime now) {
  Mode out{policy.defaultFactor, nullptr};
  for (const auto& window : policy.windows)
    for (const auto& span : spansAround(window, now))
      if (span.from <= now && now < span.to && (!out.window || window.factor < out.factor))
        out = {window.factor, &window};
  return out;
}

// The moments in (after, until] at which a window opens or closes.
std::vector<WallTime> boundariesIn(const CompiledPolicy& policy, WallTime after, WallTime until) {
  std::vector<WallTime> out;
  for (const auto& window : policy.windows)
    for (const auto& span : spansAround(window, after))
      for (WallTime at : {span.from, span.to})
        if (at > after && at <= until) out.push_back(at);
  std::sort(out.begin(), out.end());
  return out;
}

std::optional<WallTime> closedShortlyBefore(const CompiledPolicy& policy, WallTime now) {
  std::optional<WallTime> out;
  const auto still = std::chrono::duration_cast<WallTime::duration>(kStillClosing);
  for (WallTime at : boundariesIn(policy, now - still, now))
    if (modeAt(policy, at).factor < modeAt(policy, at - WallTime::duration(1)).factor) out = at;
  return out;
}

}  // namespace

Result<CompiledPolicy> compilePolicy(const TimePolicy& policy) {
  CompiledPolicy out;
  out.name = policy.meta.name.str();
  const auto nodes = compile(policy.spec.nodeSelector);
  if (!nodes) return nodes.error().in("nodeSelector");
  out.nodes = *nodes;
  const auto factor = factorOf(policy.spec.defaultMode, "default");
  if (!factor) return pass(factor.error());
  out.defaultFactor = *factor;
  out.cpu = policy.spec.cpu;
  out.memory = policy.spec.memory;
  out.drainTaint = policy.spec.drainTaint;
  if (out.cpu.safePercent.v < 0 || out.memory.safePercent.v < 0)
    return invalid("safePercent: want at least 0");
  for (size_t i = 0; i < policy.spec.windows.size(); i++) {
    auto window = compileWindow(policy.spec.windows[i], i);
    if (!window) return pass(window.error());
    out.windows.push_back(std::move(*window));
  }
  return out;
}

WindowVerdict judgeTime(const CompiledPolicy& policy, WallTime now) {
  const Mode mode = modeAt(policy, now);
  WindowVerdict out;
  out.window = mode.window ? mode.window->name : "";
  out.factor = mode.factor;
  out.changesAt = now + std::chrono::hours(24);
  out.closedAt = closedShortlyBefore(policy, now);
  for (WallTime at : boundariesIn(policy, now, WallTime::max())) {
    const Mode next = modeAt(policy, at);
    if (next.factor == mode.factor) continue;
    // The grace of the window that ends; of the one that begins when none is open now.
    const auto* graced = mode.window ? mode.window : next.window;
    const auto grace = graced ? std::chrono::duration_cast<std::chrono::microseconds>(graced->grace)
                              : std::chrono::microseconds(0);
    const bool stricter = next.factor < mode.factor;
    out.draining = stricter && now >= at - grace && grace.count() > 0;
    out.changesAt = stricter && !out.draining && grace.count() > 0 ? at - grace : at;
    if (stricter) out.closesAt = at;
    out.grace = grace;
    break;
  }
  return out;
}

CpuMemory timeReport(const CompiledPolicy& policy, const WindowVerdict& verdict,
                     const CpuMemory& capacity, const CpuMemory& online,
                     const CpuMemory& allocated) {
  const CpuMemory safe = {
      capacity.cpu.mulMilli(static_cast<double>(policy.cpu.safePercent.v) / 100) -
          Quantity::ofMilli(static_cast<int64_t>(policy.cpu.bufferCores * 1000)),
      capacity.memory.mul(static_cast<double>(policy.memory.safePercent.v) / 100)};
  const CpuMemory dynamic = notNegative(safe - online);
  const CpuMemory report = {dynamic.cpu.mulMilli(verdict.factor),
                            dynamic.memory.mul(verdict.factor)};
  return verdict.draining ? minOf(report, allocated) : report;
}

std::optional<CpuMemory> allowedBy(const CompiledPolicy& policy, const WindowVerdict& verdict,
                                   const CpuMemory& capacity,
                                   const std::optional<CpuMemory>& online,
                                   const CpuMemory& allocated) {
  if (verdict.factor == 0) return CpuMemory{};
  if (!online) return std::nullopt;
  return timeReport(policy, verdict, capacity, *online, allocated);
}

}  // namespace mangrove::manager
