#pragma once
// The reference's metrics of reservations: which phase each is in, and what it has, by name.
//
//   ReservationGauges gauges(handle.metrics);     // null: nobody reads them
//   gauges.show(cluster.reservations, now);       // by the leader; looks every five seconds
//
// Owner thread only.

#include <set>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "placement/reservation/book.h"

namespace mangrove::placement {

class ReservationGauges {
 public:
  explicit ReservationGauges(Registry* metrics);
  void show(const ReservationBook& book, WallTime now);

 private:
  void setPhase(const ReservationEntry& entry, std::set<LabelValues>& seen);
  void setAmounts(const ReservationEntry& entry, std::set<LabelValues>& seen);

  GaugeFamily* phases_ = nullptr;
  GaugeFamily* amounts_ = nullptr;
  std::set<LabelValues> shownPhases_, shownAmounts_;
  uint64_t mark_ = ~uint64_t{0};  // of the book
  WallTime next_ = kZeroTime;
};

}  // namespace mangrove::placement
