#pragma once
// A pod and the reservations on one node: whether it fits, by which, and which one it enters.
//
//   const GivenBack given(cluster, standInsOf(matched));     // the room is free while it lives
//   FitVerdict verdict = judge.fit(mine, row);
//   ReservationPtr entered = judge.nominate(plan, mine, row);
//
// Owner thread only.

#include <span>
#include <vector>

#include "placement/framework/plugin.h"
#include "placement/plugins/reservation/args.h"
#include "placement/plugins/reservation/matches.h"
#include "placement/reservation/fit.h"

namespace mangrove::placement {

// Takes pods off their node while it is looked at.
class GivenBack {
 public:
  GivenBack(Cluster& cluster, std::span<const PodPtr> pods);
  ~GivenBack();
  GivenBack(const GivenBack&) = delete;
  GivenBack& operator=(const GivenBack&) = delete;

 private:
  Cluster& cluster_;
  std::vector<std::pair<PodPtr, Row>> taken_;
};

std::vector<PodPtr> standInsOf(std::span<const ReservationPtr> entries);

// The node as it is in the books, for the names that matter to this request.
NodeRoom roomOfNode(const Cluster& cluster, Row row, const Amounts& request,
                    const ReservationArgs& args);

class ReservationJudge {
 public:
  ReservationJudge(Cluster& cluster, const ReservationArgs& args)
      : cluster_(cluster), args_(args) {}
  void setReservables(std::vector<Reservable*> all) { reservables_ = std::move(all); }

  // While the matched reservations of the row are given back. `usable` are those of matches.on(row).
  FitVerdict fit(const PodPlan& plan, const ReservationPlan& mine, Row row) const;
  // The smallest order, else whom the pod fills best, the first by name of equals; null: none, the
  // pod takes from the node. Gives back by itself.
  ReservationPtr nominate(const PodPlan& plan, const ReservationPlan& mine, Row row) const;

 private:
  int64_t score(const PodPlan& plan, const ReservationPlan& mine, Row row,
                const ReservationEntry& entry) const;

  Cluster& cluster_;
  const ReservationArgs& args_;
  std::vector<Reservable*> reservables_;
};

}  // namespace mangrove::placement
