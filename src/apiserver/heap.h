#pragma once
// Keeps the process as small as its state: the allocator would otherwise hold on to what a burst of
// large bodies or of connections has taken once.

#include <cstddef>

#include "base/clock.h"
#include "base/lifetime.h"
#include "base/mailbox.h"

namespace mangrove::apiserver {

// At start, before threads: each heap keeps its own leftovers, so there are few.
void tuneHeap();

struct HeapUse {
  size_t used = 0;  // handed out
  size_t free = 0;  // in the allocator's hands; what was given back to the kernel counts here, too
};
HeapUse heapUse();  // any thread

// Gives free memory back every now and then, when there is much of it, and once soon after the
// start, which reads everything there is. Owner thread.
class HeapKeeper {
 public:
  HeapKeeper(Clock& clock, Mailbox& owner);

 private:
  void plan(Duration pause);
  void look();
  Clock& clock_;
  Mailbox& owner_;
  Timer timer_;
  Lifetime life_;
};

}  // namespace mangrove::apiserver
