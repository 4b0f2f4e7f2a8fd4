#pragma once
// CPUs and zones of a reservation, handed over to its owners one by one.
//
//   reshare(node, *entry);                       // owners came or went: the rest stays reserved
//   const OnlyThese limited(node, held);         // nothing else is free while it lives
//
// A pod that enters gets exactly what is held for it where that suffices; others never see it.
// Owner thread only.

#include "placement/plugins/numa/numa_node.h"
#include "placement/reservation/book.h"

namespace mangrove::placement {

// Takes everything off the books that is free and not among `kept`.
class OnlyThese {
 public:
  OnlyThese(NumaNode& node, const NumaAllocation& kept);
  ~OnlyThese();
  OnlyThese(const OnlyThese&) = delete;
  OnlyThese& operator=(const OnlyThese&) = delete;

 private:
  NumaNode& node_;
  api::Uid uid_;
};

// Books for the stand-in what its owners have not got of the whole.
void reshare(NumaNode& node, const ReservationEntry& entry);

NumaAllocation differenceOf(const NumaAllocation& whole, const NumaAllocation& part);

}  // namespace mangrove::placement
