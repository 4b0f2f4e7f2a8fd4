#pragma once
// Which reservations serve a class of pods, kept up to date by what changed: a class meets every
// reservation once, and again only those that changed since.
//
//   mine.matches.refresh(mine, cluster);
//   for (const ReservationPtr& entry : mine.matches.on(row)) …
//   mine.matches.best(32)                     // rows, the most wanted first
//
// Owner thread only.

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "placement/cluster/cluster.h"
#include "placement/framework/plan.h"
#include "placement/reservation/match.h"

namespace mangrove::placement {

struct ReservationPlan;

class ReservationMatches {
 public:
  void refresh(const ReservationPlan& plan, const Cluster& cluster);

  bool empty() const { return byRow_.empty(); }
  bool restoresNothing() const { return byRow_.empty() && until_.empty(); }
  bool isOn(Row row) const { return byRow_.contains(row); }
  std::span<const ReservationPtr> on(Row row) const;
  std::vector<Row> rows() const;
  // Those that begin later, while their room may be used by this class until then.
  std::span<const ReservationPtr> until(Row row) const;
  std::vector<Row> restoredRows() const;  // rows where something is given back
  // Rows by the smallest order that is set, then by how full the reservation would be, in groups of
  // equals; about `most` of them.
  std::vector<std::vector<Row>> best(size_t most) const;
  int32_t rawScore(Row row) const;  // 0 to 100, 1000 where the smallest order is

 private:
  struct Rank {
    int64_t order;  // the largest number: none
    int64_t score;
    uint64_t tie;
    Row row;
    auto key() const { return std::tuple(order, -score, tie, row); }
    bool operator<(const Rank& other) const { return key() < other.key(); }
  };
  struct OnRow {
    std::vector<ReservationPtr> entries;  // by name
    Rank rank;
  };
  void look(const ReservationPlan& plan, const Cluster& cluster, const api::Uid& uid);
  void drop(const api::Uid& uid);
  void lookUntil(const ReservationPlan& plan, const Cluster& cluster, const api::Uid& uid);
  void rank(const ReservationPlan& plan, const Cluster& cluster, Row row);

  uint64_t mark_ = ~uint64_t{0};
  std::map<Row, OnRow> byRow_;
  std::unordered_map<api::Uid, Row> where_;
  std::set<Rank> ranks_;
  std::map<Row, std::vector<ReservationPtr>> until_;
  std::unordered_map<api::Uid, Row> untilWhere_;
};

// What a class of pods has to do with reservations.
struct ReservationPlan final : PlanData {
  api::Pod pod;  // as far as its class says
  std::optional<ReservationClaim> claim;
  std::string trouble;  // why there is none, as a sentence
  Amounts request;
  bool isStandIn = false;
  bool isOperating = false;  // a pod in operating mode Reservation
  AllocatePolicy policy = AllocatePolicy::kDefault;
  std::string node;  // of a stand-in: this one and no other
  mutable ReservationMatches matches;

  bool mustReserve() const { return claim && claim->affinity.has_value(); }
  bool ignores() const { return claim && claim->ignores; }
};
std::unique_ptr<ReservationPlan> compileReservation(const PodClass& cls, const Cluster& cluster);

}  // namespace mangrove::placement
