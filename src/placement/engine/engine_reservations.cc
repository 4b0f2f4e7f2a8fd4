// Reservations as the engine has them: pods that stand for them, and owners to wake.
#include "base/os/log.h"
#include "placement/engine/engine.h"
#include "placement/reservation/reserve_pod.h"

namespace mangrove::placement {

namespace {

const Logger log("scheduler");

// Null for what cannot be placed: it counts as absent, and the log says why.
Engine::PodObject standInOf(const Engine::ReservationObject& reservation) {
  if (!reservation) return nullptr;
  if (auto ok = checkReservation(*reservation); !ok) {
    log.warn("{}; it is ignored", ok.error().text());
    return nullptr;
  }
  return std::make_shared<api::Pod>(reservePodOf(*reservation));
}

}  // namespace

void Engine::reservationChanged(const ReservationObject& before, const ReservationObject& after) {
  bool isServed = false;
  for (const auto& profile : profiles_) isServed = isServed || profile->find("Reservation");
  if (!isServed) return;
  const api::Uid uid = after ? after->meta.uid : before->meta.uid;
  const auto known = reserved_.find(uid);
  const PodObject was = known == reserved_.end() ? nullptr : known->second;
  PodObject now = standInOf(after);
  // Whoever cannot write it down must not place it.
  if (const Profile* profile = now && now->nodeName.empty() ? profileOf(*now) : nullptr;
      profile && !profile->find("Reservation"))
    now = nullptr;
  if (after)
    cluster_.reservations.put(after);
  else
    cluster_.reservations.erase(uid);
  if (now) reserved_[uid] = now;
  if (!now && was) reserved_.erase(uid);
  // One that has lost its place waits in line again.
  const bool lostPlace = was && now && !was->nodeName.empty() && now->nodeName.empty();
  if (lostPlace) podChanged(was, nullptr);
  if (now || was) podChanged(lostPlace ? nullptr : was, now);
  ClusterEvent event;
  event.kind = EventKind::kReservation;
  event.label = "Reservation";
  queue_->happened(event);
  const bool isNews = !before || !isAvailable(*before) ||
                      (after && before->meta.generation != after->meta.generation);
  if (after && isAvailable(*after) && isNews) wakeOwners(uid);
}

// Whoever was refused by other plugins may fit now that room is kept for him.
void Engine::wakeOwners(const api::Uid& reservation) {
  const ReservationPtr entry = cluster_.reservations.find(reservation);
  if (!entry || !entry->isOpen()) return;
  std::vector<api::Uid> owners;
  for (const auto& [uid, pod] : waiting_)
    if (queue_->find(uid) && entry->offer->owners.match(*pod)) owners.push_back(uid);
  for (const api::Uid& uid : owners) queue_->activate(uid);
}

}  // namespace mangrove::placement
