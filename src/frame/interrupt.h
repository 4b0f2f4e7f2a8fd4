#pragma once
// Waiting that a signal ends. From its construction on, interruptions of this process (SIGINT,
// SIGTERM, SIGHUP, SIGQUIT) are noted instead of ending it, so that it can clean up whatever the
// moment. Make one before any other thread; one owner.
//
//   Interrupt interrupt;
//   if (interrupt.during(500ms)) return;            // somebody wants us to end
//   interrupt.duringProcess(pid, 60s);

#include <sys/types.h>

#include "base/number/units.h"
#include "base/os/fd.h"

namespace mangrove::frame {

class Interrupt {
 public:
  Interrupt();

  // Whether a signal has come so far.
  bool came() const { return came_; }
  // Sleeps, at most until a signal comes.
  bool during(Duration time);
  // Waits for the end of a child, at most until a signal comes or the time is over; true when it
  // has ended.
  bool duringProcess(pid_t child, Duration time);

 private:
  void drain();
  UniqueFd signals_;
  bool came_ = false;
};

// In a child, before it executes something: signals as they were before.
void restoreSignals();

}  // namespace mangrove::frame
