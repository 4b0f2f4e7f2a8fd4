#include "agent/interference/stalls.h"

#include <algorithm>
#include <cmath>

namespace mangrove::agent::interference {
namespace {

constexpr double kOwnShare = 0.5;
constexpr double kAtLimit = 0.98;
constexpr double kSamples = 100;
constexpr size_t kKnown = 10;
constexpr double kDeviations = 3;

struct Seen {
  std::optional<double> value;
  Marks marks;
  Resource resource;
  std::string_view signal;
  bool own = false;
};

bool memoryIsOwn(const Stalls& stalls) {
  return stalls.memoryUsed && stalls.memoryLimit &&
         isAtOwnLimit(*stalls.memoryUsed, *stalls.memoryLimit);
}

StallVerdict verdictOf(const Seen& seen) {
  return {gradeOf(*seen.value, seen.marks),
          seen.resource,
          *seen.value,
          seen.marks.act,
          seen.signal,
          seen.own};
}

bool isWorse(const StallVerdict& a, const StallVerdict& b) {
  if (a.grade != b.grade) return a.grade > b.grade;
  return a.fence > 0 && (b.fence <= 0 || a.observed / a.fence > b.observed / b.fence);
}

}  // namespace

Grade gradeOf(double value, const Marks& marks) {
  if (value >= marks.act) return Grade::kAct;
  return value >= marks.warn ? Grade::kWarn : Grade::kCalm;
}

Grade queueGrade(double msPerSecond, std::optional<double> usual, const StallMarks& marks) {
  if (!usual) return Grade::kCalm;
  if (msPerSecond > marks.queueLeast && msPerSecond >= marks.queueAct * *usual) return Grade::kAct;
  return *usual > 0 && msPerSecond >= marks.queueWarn * *usual ? Grade::kWarn : Grade::kCalm;
}

bool isOwnThrottling(Duration stalled, Duration throttled) {
  return stalled > Duration::zero() && throttled.count() >= kOwnShare * stalled.count();
}

bool isAtOwnLimit(Bytes used, Bytes limit) {
  return limit.v > 0 && static_cast<double>(used.v) >= kAtLimit * static_cast<double>(limit.v);
}

StallVerdict judgeStalls(const Stalls& stalls, const StallMarks& marks) {
  const bool throttled = isOwnThrottling(stalls.cpuStalled, stalls.throttled);
  const bool full = memoryIsOwn(stalls);
  const Marks queue{marks.queueWarn * stalls.queueUsual.value_or(0),
                    std::max(marks.queueLeast, marks.queueAct * stalls.queueUsual.value_or(0))};
  const Seen all[] = {
      {stalls.cpu, marks.cpu, Resource::kCpu, "psi_cpu_some_avg10", throttled},
      {stalls.memorySome, marks.memorySome, Resource::kMemory, "psi_memory_some_avg10", full},
      {stalls.memoryFull, marks.memoryFull, Resource::kMemory, "psi_memory_full_avg10", full},
      {stalls.io, marks.io, Resource::kIo, "psi_io_some_avg10"},
      {stalls.queueUsual ? stalls.queue : std::nullopt, queue, Resource::kCpu, kQueueSignal,
       throttled},
      {stalls.latencyPercent, marks.latency, Resource::kUnknown, kLatencySignal, throttled || full},
      {stalls.lost, marks.network, Resource::kNetwork, kLostSignal},
  };
  StallVerdict worst;
  for (const Seen& seen : all) {
    if (!seen.value) continue;
    StallVerdict one = verdictOf(seen);
    if (seen.signal == kQueueSignal)
      one.grade = queueGrade(*stalls.queue, stalls.queueUsual, marks);
    if (seen.own && one.grade > Grade::kCalm) {
      if (worst.grade == Grade::kCalm) worst.own = true;
      continue;
    }
    if (isWorse(one, worst)) worst = one;
  }
  return worst;
}

Grade Held::over(Grade grade, MonoTime now, Duration hold) {
  const auto since = [&](MonoTime& at, bool on) {
    at = on ? std::min(at, now) : MonoTime::max();
    return on && now - at >= hold;
  };
  const bool act = since(actSince_, grade == Grade::kAct);
  const bool warn = since(warnSince_, grade >= Grade::kWarn);
  if (act) return Grade::kAct;
  return warn ? Grade::kWarn : Grade::kCalm;
}

bool Unusual::add(double value) {
  const double off = value - mean_;
  const bool unusual =
      count_ >= kKnown && variance_ > 0 && std::abs(off) > kDeviations * std::sqrt(variance_);
  ++count_;
  const double weight = std::max(1.0 / static_cast<double>(count_), 2 / (kSamples + 1));
  mean_ += weight * off;
  variance_ = (1 - weight) * (variance_ + weight * off * off);
  return unusual;
}

}  // namespace mangrove::agent::interference
