#include "agent/bench/probe.h"

#include <cerrno>
#include <ctime>

#include <sys/mman.h>

namespace mangrove::agent {
namespace {

void sleepUntil(MonoTime when) {
  const int64_t ns = when.time_since_epoch().count();
  const timespec at{ns / 1'000'000'000, ns % 1'000'000'000};
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr) == EINTR) {
  }
}

}  // namespace

Result<std::unique_ptr<Probe>> Probe::make() {
  void* memory = ::mmap(nullptr, sizeof(Lane) * kLanes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return failErrno(errno, "memory of the probe");
  return std::unique_ptr<Probe>(new Probe(static_cast<Lane*>(memory)));
}

Probe::~Probe() {
  ::munmap(lanes_, sizeof(Lane) * kLanes);
}

void Probe::run(size_t lane, const Clock& clock, Duration period, Duration work) {
  Lane& mine = lanes_[lane];
  for (MonoTime next = clock.mono() + period;; next += period) {
    sleepUntil(next);
    // Work of a fixed amount: CPU time, not time that passes.
    timespec begun{}, now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begun);
    do {
      for (int i = 0; i < 200; ++i) asm volatile("" ::: "memory");
      ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((now.tv_sec - begun.tv_sec) * 1'000'000'000 + now.tv_nsec - begun.tv_nsec <
             work.count());
    const MonoTime done = clock.mono();
    Note& note = mine.notes[mine.count % kNotes];
    note.latency = (done - next).count();
    note.at = done.time_since_epoch().count();
    ++mine.count;
    // What was missed is not made up for: a service would have answered late, once.
    if (done > next + period) next = done;
  }
}

std::vector<double> Probe::between(MonoTime from, MonoTime until) const {
  std::vector<double> out;
  for (size_t i = 0; i < kLanes; ++i) {
    const Lane& lane = lanes_[i];
    const uint64_t count = lane.count;
    const uint64_t first = count > kNotes ? count - kNotes : 0;
    for (uint64_t n = count; n > first; --n) {
      const Note& note = lane.notes[(n - 1) % kNotes];
      const int64_t at = note.at;
      if (at < from.time_since_epoch().count()) break;
      if (at < until.time_since_epoch().count())
        out.push_back(static_cast<double>(note.latency) / 1e6);
    }
  }
  return out;
}

}  // namespace mangrove::agent
