#pragma once
// Statuses of reservations, their end and their removal: looked at about once a second by the
// leader, written only where something changed.
//
// Of several profiles one keeps them. Owner thread only.

#include <unordered_map>
#include <vector>

#include "placement/cluster/cluster.h"
#include "placement/framework/object_patch.h"
#include "placement/plugins/reservation/args.h"

namespace mangrove::placement {

class ReservationKeeper {
 public:
  ReservationKeeper(Cluster& cluster, const ReservationArgs& args)
      : cluster_(cluster), args_(args) {}
  ~ReservationKeeper();

  std::vector<ObjectPatch> takePatches(WallTime now);
  void notWritten(const ObjectPatch& patch);

 private:
  void look(const ReservationPtr& entry, WallTime now, std::vector<ObjectPatch>& out);
  bool isOnItsWay(const ReservationEntry& entry) const;

  Cluster& cluster_;
  const ReservationArgs& args_;
  // What was asked for and which version of the object it was about, by name: not asked twice.
  std::unordered_map<std::string, std::string> asked_;
  WallTime nextSweep_ = kZeroTime;
  bool sweeps_ = false;
};

}  // namespace mangrove::placement
