#include "placement/plugins/reservation/keeper.h"

#include <algorithm>

#include "api/wire/kind.h"
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

// Its binding is under way: what comes of it will be seen.
bool ReservationKeeper::isOnItsWay(const ReservationEntry& entry) const {
  return entry.standIn && entry.standIn->assumed;
}

void ReservationKeeper::look(const ReservationPtr& entry, WallTime now,
                             std::vector<ObjectPatch>& out) {
  if (!entry->object || isOnItsWay(*entry)) return;
  const api::Reservation& object = *entry->object;
  if (entry->waits && isPlanned(object)) return lookAhead(entry, now, out);
  const std::string& node = object.status.nodeName;
  const bool isThere = node.empty() || cluster_.table.find(node) != kNoRow;
  const auto wanted = nextStatus(object, useOf(*entry), now, isThere);
  if (wanted) out.push_back(statusPatch(object, *wanted));
  const bool isGarbage = sweeps_ && isCollectible(object, now, args_.gcDuration, isThere);
  if (isGarbage && !object.meta.isDeleting()) out.push_back(removal(object));
}

std::vector<ObjectPatch> ReservationKeeper::takePatches(WallTime now) {
  ReservationBook& book = cluster_.reservations;
  if (book.keeper == nullptr) book.keeper = this;
  if (book.keeper != this || book.empty()) return {};
  lookForOver();
  sweeps_ = args_.collects && now >= nextSweep_;
  if (sweeps_) nextSweep_ = now + std::chrono::floor<WallTime::duration>(args_.gcInterval);
  std::vector<ObjectPatch> all, out;
  book.each([&](const ReservationPtr& entry) { look(entry, now, all); });
  std::ranges::sort(all, {}, &ObjectPatch::name);
  for (ObjectPatch& patch : all) {
    const ReservationPtr entry = book.findByName(patch.name);
    const std::string about = entry->object->meta.resourceVersion + (patch.remove ? "-" : "");
    std::string& before = asked_[patch.name];
    // The times in it are of now: what counts is that this version was answered.
    if (before == about && !about.empty() && about != "-") continue;
    before = about;
    out.push_back(std::move(patch));
  }
  std::erase_if(asked_, [&](const auto& one) { return !book.findByName(one.first); });
  return out;
}

void ReservationKeeper::notWritten(const ObjectPatch& patch) {
  asked_.erase(patch.name);
}

}  // namespace mangrove::placement
