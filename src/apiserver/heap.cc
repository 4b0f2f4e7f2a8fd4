#include "apiserver/heap.h"

#include <malloc.h>

namespace mangrove::apiserver {

namespace {

constexpr int kMostHeaps = 2;  // one for the owner, one for everybody else
constexpr size_t kWorthGivingBack = 16 * 1024 * 1024;
constexpr Duration kFirstLook = std::chrono::seconds(5);
constexpr Duration kLookEvery = std::chrono::seconds(20);

}  // namespace

void tuneHeap() {
  ::mallopt(M_ARENA_MAX, kMostHeaps);
}

HeapUse heapUse() {
  const struct mallinfo2 now = ::mallinfo2();
  return {now.uordblks + now.hblkhd, now.fordblks};
}

HeapKeeper::HeapKeeper(Clock& clock, Mailbox& owner) : clock_(clock), owner_(owner) {
  plan(kFirstLook);
}

void HeapKeeper::plan(Duration pause) {
  timer_ = life_.later(clock_, owner_, pause, [this] { look(); });
}

void HeapKeeper::look() {
  if (heapUse().free > kWorthGivingBack) ::malloc_trim(0);
  plan(kLookEvery);
}

}  // namespace mangrove::apiserver
