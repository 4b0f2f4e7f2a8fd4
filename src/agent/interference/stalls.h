#pragma once
// How much a service waits for CPU, memory, disks and its own answers, and whether that is somebody
// else's doing: what works on every machine, with or without counters. Pure functions and values;
// any thread.

#include <optional>
#include <string_view>

#include "agent/interference/signals.h"
#include "base/number/units.h"

namespace mangrove::agent::interference {

// Signals by the names that reports have; those of pressure begin with "psi_".
inline constexpr std::string_view kLatencySignal = "latency", kCpiSignal = "cpi",
                                  kLostSignal = "tcp_retransmits",
                                  kQueueSignal = "container_sched_run_queue_time";

enum class Grade : uint8_t { kCalm, kWarn, kAct };

struct Marks {
  double warn = 0, act = 0;
  bool operator==(const Marks&) const = default;
};
Grade gradeOf(double value, const Marks& marks);

// Percent of time, of the last ten seconds.
struct StallMarks {
  Marks cpu{5, 15};
  Marks memorySome{5, 15};
  Marks memoryFull{1, 4};
  Marks io{10, 30};
  Marks latency{90, 100};              // percent of what it promises
  Marks network{1, 3};                 // percent of its segments that are sent again
  double queueWarn = 2, queueAct = 4;  // times its own median
  double queueLeast = 20;              // ms a second
  Duration hold = std::chrono::seconds(10);
};

// The wait for CPUs against what is usual for this service; without a usual one nothing is judged.
Grade queueGrade(double msPerSecond, std::optional<double> usual, const StallMarks& marks);

// A service that ran out of its own quota, or stands at its own limit, is not disturbed by others.
bool isOwnThrottling(Duration stalled, Duration throttled);
bool isAtOwnLimit(Bytes used, Bytes limit);

// What one service shows; absent: not measured.
struct Stalls {
  std::optional<double> cpu = {}, memorySome = {}, memoryFull = {}, io = {};
  std::optional<double> queue = {}, queueUsual = {};          // ms a second
  std::optional<double> latencyMs = {}, latencyPercent = {};  // percent of what is promised
  std::optional<double> lost = {};                            // segments sent again, percent
  Duration cpuStalled{}, throttled{};                         // within the same ten seconds
  std::optional<Bytes> memoryUsed = {}, memoryLimit = {};
};
struct StallVerdict {
  Grade grade = Grade::kCalm;
  Resource resource = Resource::kUnknown;
  double observed = 0, fence = 0;  // of the signal that decides
  std::string_view signal = {};
  bool own = false;  // the service's own limits explain the worst of it: ask for a burst instead
};
// The worst of all signals, by how far it is beyond the mark at which one acts.
StallVerdict judgeStalls(const Stalls& stalls, const StallMarks& marks);

// A grade counts once it has lasted.
class Held {
 public:
  Grade over(Grade grade, MonoTime now, Duration hold);

 private:
  MonoTime warnSince_ = MonoTime::max(), actSince_ = MonoTime::max();
};

// Anything unusual, for the record only: more than three deviations from the moving mean of about a
// hundred samples, once ten are known.
class Unusual {
 public:
  bool add(double value);

 private:
  double mean_ = 0, variance_ = 0;
  size_t count_ = 0;
};

}  // namespace mangrove::agent::interference
