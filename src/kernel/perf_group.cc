#include "kernel/perf_group.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/perf_seam.h"

namespace mangrove::kernel {
namespace {

// What is counted, in the order in which a group has it; the first two are needed.
constexpr uint64_t kEvents[kMostPerfEvents] = {
    PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_CACHE_MISSES,
    PERF_COUNT_HW_STALLED_CYCLES_BACKEND, kSoftwareEvent | PERF_COUNT_SW_TASK_CLOCK};
constexpr size_t kNeeded = 2;
constexpr double kNanos = 1e9;

perf_event_attr attributes(uint64_t event) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  const bool software = (event & kSoftwareEvent) != 0;
  attr.type = software ? PERF_TYPE_SOFTWARE : PERF_TYPE_HARDWARE;
  attr.config = event & ~kSoftwareEvent;
  attr.inherit = 0;  // a cgroup event follows its tasks by itself
  attr.read_format =
      PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return attr;
}

UniqueFd openEvent(uint64_t event, int pid, int cpu, int leader, unsigned long flags) {
  perf_event_attr attr = attributes(event);
  return UniqueFd(static_cast<int>(
      ::syscall(SYS_perf_event_open, &attr, pid, cpu, leader, flags | PERF_FLAG_FD_CLOEXEC)));
}

OpenCounter openCounter = nullptr;

UniqueFd openOfCgroup(uint64_t event, int cgroup, int cpu, int leader) {
  if (openCounter != nullptr) return openCounter(event, cgroup, cpu, leader);
  return openEvent(event, cgroup, cpu, leader, PERF_FLAG_PID_CGROUP);
}

Failure refused(int error, int cpu) {
  const Code code = error == ENOENT || error == EOPNOTSUPP || error == ENOSYS || error == EINVAL
                        ? Code::kUnsupported
                        : Code::kIo;
  return Failure(
      Error(code, fmt::format("count cycles on CPU {}: {}", cpu, std::strerror(error)), error));
}

}  // namespace

void setOpenCounter(OpenCounter open) {
  openCounter = open;
}

namespace {

// Values of one CPU by the place of their event; what is not counted stays at nullopt.
struct Placed {
  std::optional<double> values[kMostPerfEvents];
  double enabled = 0, running = 0;
};

Placed placed(const PerfReading& reading, const std::vector<size_t>& places) {
  Placed out;
  out.enabled = static_cast<double>(reading.enabled);
  out.running = static_cast<double>(reading.running);
  const double factor = reading.running == 0   ? 0
                        : reading.enabled == 0 ? 1
                                               : out.enabled / out.running;
  for (size_t i = 0; i < places.size(); ++i)
    out.values[places[i]] = static_cast<double>(reading.values[i]) * factor;
  return out;
}

// A sum is only known when every part of it is.
void addTo(std::optional<double>& sum, const std::optional<double>& more, bool first) {
  if (first)
    sum = more;
  else if (sum && more)
    *sum += *more;
  else
    sum.reset();
}

PerfCounts sumOf(const std::vector<Placed>& all) {
  Placed sum;
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t at = 0; at < kMostPerfEvents; ++at)
      addTo(sum.values[at], all[i].values[at], i == 0);
    sum.enabled += all[i].enabled;
    sum.running += all[i].running;
  }
  PerfCounts out;
  out.cycles = sum.values[0].value_or(0);
  out.instructions = sum.values[1].value_or(0);
  out.cacheMisses = sum.values[2];
  out.stallCycles = sum.values[3];
  if (sum.values[4]) out.cpuSeconds = *sum.values[4] / kNanos;
  out.counted = sum.enabled > 0 ? sum.running / sum.enabled : 1;  // it had no time to count
  return out;
}

}  // namespace

PerfCounts scaled(const PerfReading& reading) {
  std::vector<size_t> places;
  for (size_t i = 0; i < reading.count && i < kMostPerfEvents; ++i) places.push_back(i);
  return sumOf({placed(reading, places)});
}

PerfCounts operator-(const PerfCounts& later, const PerfCounts& earlier) {
  const auto less = [](const std::optional<double>& a, const std::optional<double>& b) {
    return a && b && *a >= *b ? std::optional(*a - *b) : std::nullopt;
  };
  PerfCounts out;
  out.cycles = std::max(0.0, later.cycles - earlier.cycles);
  out.instructions = std::max(0.0, later.instructions - earlier.instructions);
  out.cacheMisses = less(later.cacheMisses, earlier.cacheMisses);
  out.stallCycles = less(later.stallCycles, earlier.stallCycles);
  out.cpuSeconds = less(later.cpuSeconds, earlier.cpuSeconds);
  out.counted = later.counted;
  out.window = later.window - earlier.window;
  return out;
}

Result<PerfGroup::PerCpu> PerfGroup::openOn(int cgroup, int cpu, PerfExtras extras) {
  PerCpu one;
  for (size_t at = 0; at < kMostPerfEvents; ++at) {
    if (at >= kNeeded && extras == PerfExtras::kNone) break;
    const int leader = one.events.empty() ? -1 : one.events.front().get();
    UniqueFd event = openOfCgroup(kEvents[at], cgroup, cpu, leader);
    if (!event && at < kNeeded) return refused(errno, cpu);
    if (!event) continue;
    one.events.push_back(std::move(event));
    one.places.push_back(at);
  }
  return one;
}

Result<PerfGroup> PerfGroup::open(int cgroup, const CpuSet& cpus, PerfExtras extras) {
  // Ours may be a mere path descriptor, which perf does not take.
  const UniqueFd dir(::openat(cgroup, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!dir) return failErrno(errno, "open a cgroup for perf");
  PerfGroup group;
  for (int cpu : cpus) {
    auto one = openOn(dir.get(), cpu, extras);
    if (!one) return pass(one.error());
    group.cpus_.push_back(*std::move(one));
  }
  return group;
}

Result<PerfCounts> PerfGroup::read() const {
  std::vector<Placed> all;
  for (const PerCpu& cpu : cpus_) {
    PerfReading reading;
    // Counters have no position and refuse this; stand-ins are files.
    (void)::lseek(cpu.events.front().get(), 0, SEEK_SET);
    const ssize_t size = ::read(cpu.events.front().get(), &reading, sizeof reading);
    if (size < 0) return failErrno(errno, "read a perf group");
    const size_t want = (3 + cpu.places.size()) * sizeof(uint64_t);
    if (static_cast<size_t>(size) < want || reading.count != cpu.places.size())
      return fail(Code::kIo, "a perf group gave {} bytes with {} values, want {}", size,
                  reading.count, cpu.places.size());
    all.push_back(placed(reading, cpu.places));
  }
  return sumOf(all);
}

Result<> probePerf() {
  // This process on any CPU: needs no cgroup and no privilege beyond perf_event_paranoid.
  const UniqueFd leader = openEvent(PERF_COUNT_HW_CPU_CYCLES, 0, -1, -1, 0);
  if (!leader) return refused(errno, -1);
  const UniqueFd second = openEvent(PERF_COUNT_HW_INSTRUCTIONS, 0, -1, leader.get(), 0);
  if (!second) return refused(errno, -1);
  return {};
}

}  // namespace mangrove::kernel
