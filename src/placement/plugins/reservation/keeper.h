#pragma once
// Statuses of reservations, their end and their removal: looked at about once a second by the
// leader, written only where something changed.
//
// Also what time and strangers do to them: before one begins those who use its room go, and where
// another scheduler took more than was left, an Event says so and nothing more is placed.
//
// Of several profiles one keeps them. Owner thread only.

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "placement/cluster/cluster.h"
#include "placement/framework/deeds.h"
#include "placement/framework/object_patch.h"
#include "placement/plugins/reservation/args.h"

namespace mangrove::placement {

class ReservationKeeper {
 public:
  ReservationKeeper(Cluster& cluster, const ReservationArgs& args, Deeds* deeds)
      : cluster_(cluster), args_(args), deeds_(deeds) {}
  ~ReservationKeeper();

  std::vector<ObjectPatch> takePatches(WallTime now);
  void written(const ObjectPatch& patch);
  void notWritten(const ObjectPatch& patch);
  // A pod that is not ours came to a row with reservations.
  void strangerCame(const PodInfo& pod, Row row);
  bool isUrgent() const { return !strangers_.empty(); }

 private:
  void lookAhead(const ReservationPtr& entry, WallTime now, std::vector<ObjectPatch>& out);
  void sendAway(const ReservationEntry& entry, WallTime now);
  void lookForOver();
  std::string overText(Row row) const;
  void look(const ReservationPtr& entry, WallTime now, std::vector<ObjectPatch>& out);
  bool canWait(ReservationEntry& entry, const api::ReservationStatus& wanted, WallTime now) const;

  Cluster& cluster_;
  const ReservationArgs& args_;
  Deeds* deeds_;                                 // null: nothing may be done (explanations)
  std::map<Row, std::string> strangers_;         // who took too much there, as text
  std::unordered_map<api::Uid, WallTime> sent_;  // asked to go, and when
  WallTime nextSweep_ = kZeroTime;
  bool sweeps_ = false;
};

}  // namespace mangrove::placement
