#pragma once
// Time is injected. Production passes realClock(), tests and the simulator a VirtualClock; nothing
// else in the tree may ask the operating system what time it is. Callbacks run on the clock's own
// thread (real) or inside advance() (virtual): keep them to a Mailbox::post.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "base/fn.h"
#include "base/number/units.h"

namespace mangrove {

// Holds one pending callback. Destroying or resetting it cancels; a callback that already runs is
// not waited for.
class Timer {
 public:
  Timer() = default;
  explicit Timer(Fn cancel) : cancel_(std::move(cancel)) {}
  Timer(Timer&& other) noexcept : cancel_(std::exchange(other.cancel_, nullptr)) {}
  Timer& operator=(Timer&& other) noexcept;
  ~Timer() { reset(); }
  void reset();

 private:
  Fn cancel_;
};

class Clock {
 public:
  virtual ~Clock() = default;
  virtual WallTime wall() const = 0;
  virtual MonoTime mono() const = 0;
  // Runs `fn` once at `when`, at once if that has passed.
  [[nodiscard]] virtual Timer at(MonoTime when, Fn fn) = 0;
  // A delay beyond the end of time (Duration::max() for "no limit") never runs.
  [[nodiscard]] Timer after(Duration delay, Fn fn);
};

// The machine's time. One thread for all timers, started with the first one; never destroyed.
Clock& realClock();

// Stands still until told to move. Thread-safe; callbacks run in the thread that calls advance(),
// in time order.
class VirtualClock final : public Clock {
 public:
  explicit VirtualClock(WallTime start = WallTime{}) : start_(start) {}
  WallTime wall() const override;
  MonoTime mono() const override;
  [[nodiscard]] Timer at(MonoTime when, Fn fn) override;

  void advance(Duration by);
  // How many callbacks wait; the next one's time, or MonoTime::max().
  size_t pending() const;
  MonoTime nextAt() const;
  // Moves wall time alone, as a clock correction does.
  void stepWall(Duration by);

 private:
  struct Shared;
  WallTime start_;
  std::shared_ptr<Shared> shared_ = makeShared();
  static std::shared_ptr<Shared> makeShared();
};

}  // namespace mangrove
