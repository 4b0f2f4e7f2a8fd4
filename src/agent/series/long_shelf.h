#pragma once
// A longer and coarser memory beside a shelf of seconds: the mean of each step, for windows that the
// shelf does not reach back. Made only where somebody asks for such windows.
//
//   LongShelf hours(Shelf::open(…), 10s);
//   hours.follow(fine, now);                            // before each slot of the fine one begins
//   hours.shelf().average(*hours.shelf().find("node"), kCpu, now - 2h, now)
//
// One owner, no locks.

#include "agent/series/shelf.h"

namespace mangrove::agent {

class LongShelf {
 public:
  LongShelf(Shelf shelf, Duration step) : shelf_(std::move(shelf)), step_(step) {}

  void follow(const Shelf& fine, MonoTime at);
  void forget() { shelf_.forget(); }
  const Shelf& shelf() const { return shelf_; }
  Duration step() const { return step_; }

 private:
  Shelf shelf_;
  Duration step_;
  MonoTime next_ = MonoTime::min();
};

// How coarse a memory of so long must be: at most `slots` steps, whole tens of seconds, never more
// than the fine shelf reaches back.
struct LongShape {
  Duration step{};
  uint32_t slots = 0;
};
LongShape longShape(Duration window, uint32_t slots, Duration fineSpan);

}  // namespace mangrove::agent
