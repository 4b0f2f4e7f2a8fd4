#include "apiserver/heap.h"

#include <malloc.h>

namespace mangrove::apiserver {

namespace {

constexpr int kMostHeaps = 2;  // one for the owner, one for everybody else
constexpr size_t kWorthGivingBack = 16 * 1024 * 1024;
constexpr Duration kLookEvery = std::chrono::seconds(20);

}  // namespace

void tuneHeap() {
  ::mallopt(M_ARENA_MAX, kMostHeaps);
}

void HeapKeeper::plan() {
  timer_ = clock_.after(kLookEvery, [this, weak = std::weak_ptr<int>(alive_), &owner = owner_] {
    owner.post([this, weak] {
      if (!weak.expired()) look();
    });
  });
}

void HeapKeeper::look() {
  if (::mallinfo2().fordblks > kWorthGivingBack) ::malloc_trim(0);
  plan();
}

}  // namespace mangrove::apiserver
