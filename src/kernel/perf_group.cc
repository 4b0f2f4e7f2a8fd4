#include "kernel/perf_group.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/perf_seam.h"

namespace mangrove::kernel {
namespace {

perf_event_attr attributes(uint64_t event) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_HARDWARE;
  attr.config = event;
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

PerfCounts scaled(const PerfReading& reading) {
  if (reading.running == 0) return {};
  const double factor = reading.enabled == 0 ? 1
                                             : static_cast<double>(reading.enabled) /
                                                   static_cast<double>(reading.running);
  return {static_cast<double>(reading.values[0]) * factor,
          static_cast<double>(reading.values[1]) * factor};
}

Result<PerfGroup> PerfGroup::open(int cgroup, const CpuSet& cpus) {
  // Ours may be a mere path descriptor, which perf does not take.
  const UniqueFd dir(::openat(cgroup, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!dir) return failErrno(errno, "open a cgroup for perf");
  PerfGroup group;
  for (int cpu : cpus) {
    PerCpu one;
    one.leader = openOfCgroup(PERF_COUNT_HW_CPU_CYCLES, dir.get(), cpu, -1);
    if (!one.leader) return refused(errno, cpu);
    one.instructions = openOfCgroup(PERF_COUNT_HW_INSTRUCTIONS, dir.get(), cpu, one.leader.get());
    if (!one.instructions) return refused(errno, cpu);
    group.cpus_.push_back(std::move(one));
  }
  return group;
}

Result<PerfCounts> PerfGroup::read() const {
  PerfCounts sum;
  for (const PerCpu& cpu : cpus_) {
    PerfReading reading;
    const ssize_t size = ::read(cpu.leader.get(), &reading, sizeof reading);
    if (size < 0) return failErrno(errno, "read a perf group");
    if (size != sizeof reading || reading.count != 2)
      return fail(Code::kIo, "a perf group gave {} bytes with {} values, want 2", size,
                  reading.count);
    const PerfCounts one = scaled(reading);
    sum.cycles += one.cycles;
    sum.instructions += one.instructions;
  }
  return sum;
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
