#pragma once
// What reservations hold on nodes, and who took how much of it. One truth for all profiles; the
// cluster tells it of every pod that comes and goes.
//
// A reservation stands on its node as a pod (reserve_pod.h) that counts for what is left of it:
//
//   on the node = Σ pods + Σ reservations max(0, reserved − Σ owners), name by name
//
// so an owner that enters moves room from the one to the other in the same moment, nothing is
// counted twice, and whoever has nothing to do with it sees the truth without a calculation.
// Worked: 8 cpus reserved, an owner of 3: the stand-in counts 5. An owner of 10 in an Aligned one:
// the stand-in counts 0. The owner goes: 8 again.
//
//   book.put(reservation);
//   book.enter(entry, pod);                  // before the pod counts on the node
//   for (const ReservationPtr& entry : book.on(row)) …
//
// A reservation for one owner is spent once that owner is bound for certain: what it did not take is
// free then, and not before, because a binding that fails gives the room back to the reservation.
// Pods in operating mode Reservation are entries of the same kind that stand for themselves.
//
// Owner thread only.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/koordinator/reservation.h"
#include "placement/cluster/node_table.h"
#include "placement/reservation/match.h"
#include "placement/reservation/room.h"

namespace mangrove::placement {

struct ReservationEntry {
  struct Owner {
    PodPtr pod;
    Amounts request;
    bool confirmed = false;  // the server shows that it is one
    bool away = false;       // a trial looks at what would be without it
  };
  api::Uid uid;
  std::string name;
  std::shared_ptr<const api::Reservation> object;  // null: a pod, or one that is not seen yet
  std::optional<ReservationOffer> offer;           // nullopt: it serves nobody
  std::string trouble;                             // why not, as a sentence
  ReservedRoom room;                               // with its owners
  Amounts used;                                    // by owners, on every name
  int64_t order = 0;                               // 0: none
  PodPtr standIn;                                  // null: on no node
  Row place = kNoRow;                              // of the stand-in, also while a trial has it
  std::map<api::Uid, Owner> owners;
  bool isPod = false;  // in operating mode
  bool spent = false;  // for one owner, and it had one

  size_t present() const;  // owners that are not away
  bool isOnce() const { return offer && offer->once; }
  bool isOpen() const { return offer && !spent && isMatchable(*offer, present()); }
  Amounts held() const;  // what the stand-in counts for
};
using ReservationPtr = std::shared_ptr<ReservationEntry>;

class ReservationBook {
 public:
  explicit ReservationBook(NodeTable& table) : table_(table) {}
  ReservationBook(const ReservationBook&) = delete;
  ReservationBook& operator=(const ReservationBook&) = delete;

  bool empty() const { return entries_.empty(); }
  void put(const std::shared_ptr<const api::Reservation>& reservation);
  void erase(const api::Uid& reservation);

  // ---- who looks
  ReservationPtr find(const api::Uid& uid) const;
  ReservationPtr findByName(std::string_view name) const;
  ReservationPtr ofOwner(const api::Uid& pod) const;  // null: in none
  const std::vector<ReservationPtr>& on(Row row) const;
  void each(const std::function<void(const ReservationPtr&)>& visit) const;
  // Some entry serves a pod by its own name or uid.
  bool namesPods() const { return namingPods_ > 0; }
  bool namesPod(const api::Pod& pod) const;

  Amounts amountsOfRequests(const PodRequests& requests) const;

  // ---- who enters, before it counts on the node
  void enter(const ReservationPtr& entry, const PodPtr& pod);

  // ---- the cluster tells what happens to pods
  void arriving(const PodPtr& pod);  // is about to count
  void arrived(const PodPtr& pod);   // counts
  void left(const PodPtr& pod);      // counts no longer
  void updated(const PodPtr& pod);   // another version that counts as before
  void ended(const api::Pod& pod);   // an owner has run to its end
  void away(const PodPtr& pod, bool quietly);
  void back(const PodPtr& pod, bool quietly);
  void nodeChanged(Row row);

  // ---- what changed about who serves whom, for caches
  uint64_t now() const { return logBase_ + log_.size(); }
  // Uids since the mark, with repetitions; nullopt: too long ago.
  std::optional<std::vector<api::Uid>> changedSince(uint64_t mark) const;

  // Told after a stand-in counts for something else.
  std::function<void(const PodInfo&)> onHeld = [](const PodInfo&) {};
  const void* keeper = nullptr;  // which of several profiles writes statuses

 private:
  ReservationPtr entryFor(const api::Uid& uid);
  void join(ReservationEntry& entry, const PodPtr& pod, bool confirmed);
  void leave(const api::Uid& pod);
  void recount(ReservationEntry& entry, bool quietly);
  void regrant(ReservationEntry& entry, bool quietly);
  void note(const ReservationEntry& entry);
  void stand(ReservationEntry& entry, const PodPtr& pod);
  void unstand(ReservationEntry& entry);
  void readPod(const PodPtr& pod);
  void giveUpTaken(ReservationEntry& entry);
  void dropIfUnused(const api::Uid& uid);
  std::unique_ptr<PodRequests> grantOf(const ReservationEntry& entry) const;

  NodeTable& table_;
  std::unordered_map<api::Uid, ReservationPtr> entries_;
  std::unordered_map<std::string, api::Uid> byName_;
  std::unordered_map<api::Uid, api::Uid> ownerOf_;  // pod → reservation
  std::unordered_map<Row, std::vector<ReservationPtr>> onRow_;
  size_t namingPods_ = 0;
  std::vector<api::Uid> log_;
  uint64_t logBase_ = 0;
};

}  // namespace mangrove::placement
