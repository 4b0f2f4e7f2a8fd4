#pragma once
// Who would sit where: uses on trial, given back when it is gone.
//
//   Seats seats;
//   if (!desk.isRefused(asked)) seats.take(asked);     // the next one is judged beside it
//
// Owner thread.

#include <vector>

#include "placement/plugins/elasticquota/quota_desk.h"

namespace mangrove::placement {

class Seats {
 public:
  Seats() = default;
  ~Seats() {
    for (const QuotaDesk::Asked& one : taken_) use(one, -1);
  }
  Seats(const Seats&) = delete;
  Seats& operator=(const Seats&) = delete;

  void take(const QuotaDesk::Asked& asked) {
    use(asked, +1);
    taken_.push_back(asked);
  }
  bool empty() const { return taken_.empty(); }

 private:
  static void use(const QuotaDesk::Asked& one, int sign) {
    one.place.ledger->use(one.place.id, *one.request, sign, one.kind, QuotaLedger::Meant::kTrial);
  }
  std::vector<QuotaDesk::Asked> taken_;
};

}  // namespace mangrove::placement
