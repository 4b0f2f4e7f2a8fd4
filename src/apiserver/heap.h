#pragma once
// Keeps the process as small as its state: the allocator would otherwise hold on to what a burst of
// large bodies or of connections has taken once.

#include <memory>

#include "base/clock.h"
#include "base/mailbox.h"

namespace mangrove::apiserver {

// At start, before threads: each heap keeps its own leftovers, so there are few.
void tuneHeap();

// Gives free memory back every now and then, when there is much of it. Owner thread.
class HeapKeeper {
 public:
  HeapKeeper(Clock& clock, Mailbox& owner) : clock_(clock), owner_(owner) { plan(); }

 private:
  void plan();
  void look();
  Clock& clock_;
  Mailbox& owner_;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
  Timer timer_;
};

}  // namespace mangrove::apiserver
