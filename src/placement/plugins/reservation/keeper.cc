#include "placement/plugins/reservation/keeper.h"

#include <algorithm>

#include "api/wire/kind.h"
#include "base/number/elapsed.h"
#include "json/print.h"
#include "placement/plugins/reservation/status.h"
#include "placement/reservation/expiry.h"
#include "placement/reservation/reserve_pod.h"

namespace mangrove::placement {
namespace {

ObjectPatch removal(const api::Reservation& reservation) {
  ObjectPatch out;
  out.kind = &api::kind::kReservation;
  out.name = reservation.meta.name.str();
  out.remove = true;
  out.body["uid"] = reservation.meta.uid.str();
  return out;
}

}  // namespace

ReservationKeeper::~ReservationKeeper() {
  if (cluster_.reservations.keeper == this) cluster_.reservations.keeper = nullptr;
}

namespace {

constexpr std::chrono::seconds kYoung{2};
constexpr std::chrono::seconds kLongestUntold{10};

// What has just been made is most often placed before anybody reads that it waits.
bool isTooEarly(const api::Reservation& object, const api::ReservationStatus& wanted,
                WallTime now) {
  return object.status.phase.empty() && wanted.phase == api::reservation_phase::kPending &&
         elapsed(object.meta.creationTimestamp, now) < kYoung;
}

}  // namespace

// Who uses it stands in the annotations of the pods; that the status says so too, and that its one
// owner has come, is for readers, and costs a server more than the binding did. What one owner left
// stays kept until it is written. Other phases decide over room and go at once.
bool ReservationKeeper::canWait(ReservationEntry& entry, const api::ReservationStatus& wanted,
                                WallTime now) const {
  const bool onlyTells = wanted.phase == entry.object->status.phase ||
                         wanted.phase == api::reservation_phase::kSucceeded;
  if (!onlyTells || !deeds_ || !deeds_->isBusy()) return false;
  if (entry.untoldSince == kZeroTime) entry.untoldSince = now;
  return elapsed(entry.untoldSince, now) < kLongestUntold;
}

void ReservationKeeper::look(const ReservationPtr& entry, WallTime now,
                             std::vector<ObjectPatch>& out) {
  const bool isOnItsWay = entry->standIn && entry->standIn->assumed;
  if (!entry->object || isOnItsWay || entry->isBeingWritten()) return;
  const api::Reservation& object = *entry->object;
  if (entry->waits && isPlanned(object)) return lookAhead(entry, now, out);
  const std::string& node = object.status.nodeName;
  const bool isThere = node.empty() || cluster_.table.find(node) != kNoRow;
  const auto wanted = nextStatus(object, useOf(*entry), now, isThere);
  if (wanted && !isTooEarly(object, *wanted, now) && !canWait(*entry, *wanted, now)) {
    entry->untoldSince = kZeroTime;
    out.push_back(statusPatch(object, *wanted));
  }
  const bool isGarbage = sweeps_ && isCollectible(object, now, args_.gcDuration, isThere);
  if (isGarbage && !object.meta.isDeleting()) out.push_back(removal(object));
}

std::vector<ObjectPatch> ReservationKeeper::takePatches(WallTime now) {
  ReservationBook& book = cluster_.reservations;
  if (book.keeper == nullptr) book.keeper = this;
  if (book.keeper != this || book.empty()) return {};
  // What begins now must count in full before anybody else is placed beside it.
  book.setTime(std::max(now, book.time()));
  lookForOver();
  sweeps_ = args_.collects && now >= nextSweep_;
  if (sweeps_) nextSweep_ = now + std::chrono::floor<WallTime::duration>(args_.gcInterval);
  std::vector<ObjectPatch> out;
  book.each([&](const ReservationPtr& entry) {
    const size_t before = out.size();
    look(entry, now, out);
    if (out.size() > before) entry->writing();
  });
  std::ranges::stable_sort(out, {}, &ObjectPatch::name);
  return out;
}

void ReservationKeeper::written(const ObjectPatch& patch) {
  if (const auto entry = cluster_.reservations.findByName(patch.name)) entry->answered(true);
}

void ReservationKeeper::notWritten(const ObjectPatch& patch) {
  if (const auto entry = cluster_.reservations.findByName(patch.name)) entry->answered(false);
}

}  // namespace mangrove::placement
