#pragma once
// The devices of all nodes and who holds what: one truth for every profile, since a card that one
// of them gives away is gone for all. Made with the first plugin that needs it
// (Cluster::deviceBooks) and kept by what happens in the cluster: annotations of pods on nodes,
// Device objects, trials of preemption and transactions.
//
// For reservations: a reservation holds its cards under its own uid,
//
//   books.at(row).hold(reservationUid, heldOf(its device-allocated annotation));
//   books.release(row, reservationUid);                                   // it is gone
//
// shows them to a pod that may use it while the pod's row is looked at (Transforming),
//
//   restore(plan, row):   books.lend(row, {reservationUid, restricted, required});
//   unrestore(plan, row): books.takeBack(row);
//
// and says whose cards the pod is to take before DeviceShare reserves:
//
//   books.nominate(podUid, {reservationUid, restricted, required});
//
// The pod's cards then count as taken out of the reservation, also after a restart (by the pod's
// reservation-allocated annotation).
//
// Owner thread only.

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "placement/cluster/cluster.h"
#include "placement/device/book.h"
#include "placement/device/templates.h"

namespace mangrove::placement {

struct DeviceLoan {
  api::Uid lender;
  bool restricted = false;  // nothing but what the lender has left
  bool required = false;    // its cards or none
};

class DeviceBooks final : public ClusterListener {
 public:
  explicit DeviceBooks(Cluster& cluster);
  // Those of the cluster, made where there are none yet.
  static DeviceBooks& of(Cluster& cluster);

  const DeviceBook* find(Row row) const {
    return row < books_.size() ? books_[row].get() : nullptr;
  }
  DeviceBook& at(Row row);
  // `text` is the annotation that says so; an echo of it changes nothing.
  void hold(Row row, const api::Uid& holder, HeldDevices devices, std::string text,
            const api::Uid& lender);
  void release(Row row, const api::Uid& holder);

  void lend(Row row, DeviceLoan loan);
  void takeBack(Row row);
  const std::vector<DeviceLoan>& loans(Row row) const;
  void nominate(const api::Uid& pod, DeviceLoan loan) { nominated_[pod] = std::move(loan); }
  const DeviceLoan* nominated(const api::Uid& pod) const;

  // Those who are nominated to the row and matter as much as the pod take what they will be given,
  // so that it chooses beside them; and leave again.
  std::vector<api::Uid> seatNominated(Row row, const PodInfo& pod);
  void unseat(Row row, const std::vector<api::Uid>& seated);

  // Who hears of cards that are ill, gone or given twice, with the pod that has one.
  using Tell = std::function<void(const api::Pod& pod, const std::string& what)>;
  void tellBy(Tell tell) { tell_ = std::move(tell); }
  size_t quarrels() const { return quarrels_; }  // cards that are given twice
  // Shares that vendors' drivers can cut; empty: none are known.
  void putTemplates(TemplatesByModel templates);
  const TemplatesByModel& templates() const { return templates_; }
  uint64_t templatesGeneration() const { return templatesGeneration_; }
  // Why the Device object of the node cannot be read; "" when it can.
  std::string troubleOf(Row row) const;

  // ---- ClusterListener
  void podAdded(const PodInfo& pod, Row row, bool trial) override;
  void podRemoved(const PodInfo& pod, Row row, bool trial) override;
  void podUpdated(const PodInfo& pod, Row row) override;
  void nodeChanged(Row row) override;
  void nodeGone(Row row) override;
  void deviceChanged(Row row) override;

 private:
  bool adopt(const PodInfo& pod, Row row);
  void tryOut(const PodInfo& pod, Row row);
  HeldDevices wouldGet(const PodInfo& pod, Row row) const;
  void report(Row row);
  void recheck(Row row);
  std::map<api::Uid, std::set<std::string>> troublesOn(Row row) const;
  std::string nameOf(const api::Uid& holder) const;

  Cluster& cluster_;
  std::vector<std::unique_ptr<DeviceBook>> books_;  // by row; null: nothing known
  std::unordered_map<api::Uid, std::string> texts_;
  std::unordered_set<api::Uid> tried_;  // put there to see what would be left for others
  std::unordered_map<Row, std::vector<DeviceLoan>> loans_;
  std::unordered_map<api::Uid, DeviceLoan> nominated_;
  std::unordered_map<Row, std::map<api::Uid, std::set<std::string>>> told_;
  std::unordered_map<Row, size_t> quarrelsOn_;
  std::unordered_map<Row, std::string> troubles_;
  size_t quarrels_ = 0;
  TemplatesByModel templates_;
  uint64_t templatesGeneration_ = 0;
  Tell tell_;
};

}  // namespace mangrove::placement
