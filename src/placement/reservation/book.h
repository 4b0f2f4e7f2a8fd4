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
// A reservation for one owner is spent once that owner is bound for certain, because a binding that
// fails gives the room back to the reservation. What its owner did not take is kept until the object
// says Succeeded: a scheduler that starts after the owner is gone reads "Available" and would count
// again what another has given away.
// Pods in operating mode Reservation are entries of the same kind that stand for themselves.
//
// A reservation that begins later counts for what others must leave free now, so that it fits when
// it begins beside those who are still there. Of several on a node, each counts for what it needs
// beyond those that begin before it; so whoever is gone by a start sees the node without all that
// begin later.
//
// Owner thread only.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "api/koordinator/reservation.h"
#include "placement/cluster/node_table.h"
#include "placement/reservation/ahead.h"
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
  // Of one with a start (ahead.h):
  Beginning beginning;
  bool waits = false;  // it has not begun
  // Its node was chosen for later, beside pods that leave: though its time may come while that is
  // written, somebody must look whether they did.
  bool isPlanned = false;
  Amounts ahead;  // while it waits: what everybody else must leave for it

  // A write of ours about the object, until it is answered and seen. Meanwhile nothing else is
  // decided about it: what we know of it is old.
  struct Write {
    std::string version;  // of the object that it was made from
    bool answered = false;
  };
  std::optional<Write> write;
  WallTime untoldSince = kZeroTime;  // owners came or went, and the status does not say so yet
  void writing() { write = Write{object->meta.resourceVersion}; }
  void answered(bool accepted) {
    if (write) write->answered = true;
    if (!accepted) write.reset();
  }
  bool isBeingWritten() const {
    return write &&
           (!write->answered || (object && object->meta.resourceVersion == write->version));
  }

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
  void eachRow(const std::function<void(Row)>& visit) const;  // where some are, or more than fits
  // Some entry serves a pod by its own name or uid.
  bool namesPods() const { return namingPods_ > 0; }
  bool namesPod(const api::Pod& pod) const;

  Amounts amountsOfRequests(const PodRequests& requests) const;

  // ---- those that begin later
  bool looksAhead() const { return waiting_ > 0; }
  WallTime time() const { return time_; }
  // Time passes: what is promised and what begins is judged anew.
  void setTime(WallTime now);
  // Who is on the row changed.
  void rowChanged(Row row, bool quietly) {
    if (waiting_ > 0 && row != kNoRow) lookAhead(row, quietly);
  }
  // Pods and reservations of the row that are gone when this one begins, or begin after its end.
  std::vector<PodPtr> goneBy(const ReservationEntry& entry, Row row) const;
  std::vector<Tenure> tenures(Row row) const;
  // Some class of pods says how long it runs: for it things change as time passes.
  bool hasTimedClasses = false;

  // Rows where more is taken than there is, by others than us.
  bool isOver(Row row) const { return over_.contains(row); }
  void setOver(Row row, bool over);

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
  void readStart(ReservationEntry& entry);
  void setWaits(ReservationEntry& entry, bool waits);
  void lookAhead(Row row, bool quietly);
  std::vector<ReservationEntry*> waitingOn(Row row) const;
  Departure departureOf(const PodInfo& pod) const;
  std::unique_ptr<PodRequests> grantOf(const ReservationEntry& entry) const;

  NodeTable& table_;
  std::unordered_map<api::Uid, ReservationPtr> entries_;
  std::unordered_map<std::string, api::Uid> byName_;
  std::unordered_map<api::Uid, api::Uid> ownerOf_;  // pod → reservation
  std::unordered_map<Row, std::vector<ReservationPtr>> onRow_;
  size_t namingPods_ = 0;
  size_t waiting_ = 0;  // entries that wait for their start
  WallTime time_ = kZeroTime;
  std::unordered_set<Row> over_;
  std::vector<api::Uid> log_;
  uint64_t logBase_ = 0;
};

}  // namespace mangrove::placement
