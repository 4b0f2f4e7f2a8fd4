#pragma once
// A latency probe: a process that wakes every millisecond, works for a moment, and notes how much
// later than planned it was done. Its notes lie in memory shared with whoever measures.
//
//   auto probe = Probe::make();                     // before fork
//   pods.start(uid, [&] { probe->run(0); });        // in the child, does not return
//   probe->between(from, until)                     // latencies in ms, in the parent
//
// One writer per lane; readers may look any time.

#include <atomic>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/number/units.h"
#include "base/result.h"

namespace mangrove::agent {

class Probe {
 public:
  static constexpr size_t kLanes = 8;
  static constexpr size_t kNotes = 1 << 16;

  static Result<std::unique_ptr<Probe>> make();
  ~Probe();

  // Wakes every `period` and works for `work`, for ever.
  [[noreturn]] void run(size_t lane, const Clock& clock, Duration period, Duration work);
  std::vector<double> between(MonoTime from, MonoTime until) const;

 private:
  struct Note {
    std::atomic<int64_t> at;       // when it was done
    std::atomic<int64_t> latency;  // behind the plan, nanoseconds
  };
  struct Lane {
    std::atomic<uint64_t> count;
    Note notes[kNotes];
  };
  explicit Probe(Lane* lanes) : lanes_(lanes) {}
  Lane* lanes_;
};

}  // namespace mangrove::agent
