#include "placement/reservation/book.h"

#include <algorithm>

#include "api/annotations/reservation.h"
#include "api/wire/names.h"
#include "placement/reservation/reserve_pod.h"

namespace mangrove::placement {
namespace {

constexpr size_t kLongestLog = 16384;

// The reservation that a pod says it entered; empty: none.
api::Uid enteredBy(const api::Pod& pod) {
  if (!pod.meta.annotations.has(api::annotation::kReservationAllocated)) return {};
  const auto read = api::parseReservationAllocated(pod.meta.annotations);
  return read && *read ? api::Uid((*read)->uid) : api::Uid();
}

bool isReady(const api::Pod& pod) {
  const api::Condition* ready = api::findCondition(pod.status.conditions, "Ready");
  return pod.status.phase == api::PodPhase::kRunning && ready && ready->status == api::Truth::kTrue;
}

bool namesPods(const std::vector<api::ReservationOwner>& owners) {
  return std::ranges::any_of(owners, [](const api::ReservationOwner& owner) {
    return owner.object && (!owner.object->uid.empty() || !owner.object->name.empty());
  });
}

// A pod in operating mode as the reservation that it is.
Result<ReservationOffer> offerOf(const api::Pod& pod, api::ResourceList allocatable) {
  auto owners = api::parseReservationOwners(pod.meta.annotations);
  if (!owners) return pass(owners.error());
  auto terms = OwnerTerms::compile(owners->value_or(std::vector<api::ReservationOwner>{}));
  if (!terms) return pass(terms.error());
  ReservationOffer out;
  out.name = pod.meta.name.str();
  out.labels = pod.meta.labels;
  out.owners = *std::move(terms);
  out.allocatable = std::move(allocatable);
  out.available = isReady(pod);
  out.closed = pod.meta.isDeleting();
  return out;
}

// A pod that says it is in a reservation of another node takes nothing of it.
bool isHere(const ReservationEntry& entry, const ReservationEntry::Owner& owner) {
  return !owner.confirmed || !entry.standIn || owner.pod->nodeName == entry.standIn->nodeName;
}

}  // namespace

size_t ReservationEntry::present() const {
  return static_cast<size_t>(
      std::ranges::count_if(owners, [](const auto& owner) { return !owner.second.away; }));
}

Amounts ReservationEntry::held() const {
  if (waits) return ahead;
  Amounts out = room.allocatable;
  out.subtract(used);
  out.holdAboveZero();
  out.keepOnly(room.allocatable);
  return out;
}

// ---- objects -----------------------------------------------------------------------------------

ReservationPtr ReservationBook::entryFor(const api::Uid& uid) {
  ReservationPtr& slot = entries_[uid];
  if (!slot) {
    slot = std::make_shared<ReservationEntry>();
    slot->uid = uid;
  }
  return slot;
}

void ReservationBook::put(const std::shared_ptr<const api::Reservation>& reservation) {
  const ReservationPtr entry = entryFor(reservation->meta.uid);
  if (entry->object) namingPods_ -= placement::namesPods(entry->object->spec.owners);
  namingPods_ += placement::namesPods(reservation->spec.owners);
  entry->object = reservation;
  entry->name = reservation->meta.name.str();
  byName_[entry->name] = entry->uid;
  entry->trouble.clear();
  auto offer = ReservationOffer::of(*reservation);
  auto room = ReservedRoom::of(*reservation);
  const auto start = api::parseReservationStart(reservation->meta.annotations);
  if (!start) entry->trouble = start.error().text();
  if (!offer || !room) entry->trouble = (!offer ? offer.error() : room.error()).text();
  entry->offer = offer && room ? std::optional(std::move(*offer)) : std::nullopt;
  entry->room = room ? std::move(*room) : ReservedRoom();
  const Amounts reserved = amountsOf(reservedAmountsOf(*reservation));
  if (!isAvailable(*reservation) || !room)
    entry->room = ReservedRoom::plain(entry->name, entry->room.policy, reserved);
  entry->order = api::parseReservationOrder(reservation->meta.labels).value_or(0);
  readStart(*entry);
  recount(*entry, false);
  rowChanged(entry->place, false);
  note(*entry);
}

void ReservationBook::erase(const api::Uid& reservation) {
  const ReservationPtr entry = find(reservation);
  if (!entry || !entry->object) return;
  namingPods_ -= placement::namesPods(entry->object->spec.owners);
  if (const auto at = byName_.find(entry->name); at != byName_.end() && at->second == entry->uid)
    byName_.erase(at);
  entry->object = nullptr;
  entry->offer.reset();
  setWaits(*entry, false);
  note(*entry);
  dropIfUnused(reservation);
}

void ReservationBook::dropIfUnused(const api::Uid& uid) {
  const auto at = entries_.find(uid);
  if (at == entries_.end()) return;
  const ReservationEntry& entry = *at->second;
  if (!entry.object && !entry.standIn && entry.owners.empty()) entries_.erase(at);
}

// ---- who looks ---------------------------------------------------------------------------------

ReservationPtr ReservationBook::find(const api::Uid& uid) const {
  const auto at = entries_.find(uid);
  return at == entries_.end() ? nullptr : at->second;
}

ReservationPtr ReservationBook::findByName(std::string_view name) const {
  const auto at = byName_.find(std::string(name));
  return at == byName_.end() ? nullptr : find(at->second);
}

ReservationPtr ReservationBook::ofOwner(const api::Uid& pod) const {
  const auto at = ownerOf_.find(pod);
  return at == ownerOf_.end() ? nullptr : find(at->second);
}

const std::vector<ReservationPtr>& ReservationBook::on(Row row) const {
  static const std::vector<ReservationPtr> kNone;
  const auto at = onRow_.find(row);
  return at == onRow_.end() ? kNone : at->second;
}

void ReservationBook::each(const std::function<void(const ReservationPtr&)>& visit) const {
  for (const auto& [uid, entry] : entries_) visit(entry);
}

bool ReservationBook::namesPod(const api::Pod& pod) const {
  return std::ranges::any_of(entries_, [&](const auto& known) {
    const ReservationEntry& entry = *known.second;
    return entry.object && entry.offer && placement::namesPods(entry.object->spec.owners) &&
           entry.offer->owners.match(pod);
  });
}

// ---- owners ------------------------------------------------------------------------------------

Amounts ReservationBook::amountsOfRequests(const PodRequests& requests) const {
  Amounts out;
  for (const Request& request : requests.all)
    out.set(table_.resources().name(request.id), request.amount);
  return out;
}

void ReservationBook::enter(const ReservationPtr& entry, const PodPtr& pod) {
  join(*entry, pod, false);
}

void ReservationBook::join(ReservationEntry& entry, const PodPtr& pod, bool confirmed) {
  const api::Uid& uid = pod->pod->meta.uid;
  if (const auto at = ownerOf_.find(uid); at != ownerOf_.end() && at->second != entry.uid)
    leave(uid);
  ownerOf_[uid] = entry.uid;
  ReservationEntry::Owner& owner = entry.owners[uid];
  owner = {pod, amountsOfRequests(pod->requests()), confirmed || owner.confirmed, false};
  recount(entry, false);
  note(entry);
}

void ReservationBook::leave(const api::Uid& pod) {
  const auto at = ownerOf_.find(pod);
  if (at == ownerOf_.end()) return;
  const ReservationPtr entry = find(at->second);
  ownerOf_.erase(at);
  if (!entry) return;
  entry->owners.erase(pod);
  recount(*entry, false);
  note(*entry);
  dropIfUnused(entry->uid);
}

void ReservationBook::recount(ReservationEntry& entry, bool quietly) {
  entry.used.clear();
  entry.room.allocated.clear();
  entry.room.owners = 0;
  for (const auto& [uid, owner] : entry.owners) {
    if (owner.away || !isHere(entry, owner)) continue;
    entry.used.add(owner.request);
    entry.room.take(owner.request);
    const bool once = entry.offer && entry.offer->once && !entry.isPod;
    entry.spent = entry.spent || (once && owner.confirmed);
  }
  regrant(entry, quietly);
}

std::unique_ptr<PodRequests> ReservationBook::grantOf(const ReservationEntry& entry) const {
  if (entry.owners.empty() && !entry.waits) return nullptr;
  auto out = std::make_unique<PodRequests>();
  for (const auto& [name, amount] : entry.held())
    if (amount > 0 && isCounted(name.view()))
      out->all.push_back({table_.resources().of(name), amount});
  out->nonZeroCpu = out->amount(kCpuId);
  out->nonZeroMemory = out->amount(kMemoryId);
  return out;
}

void ReservationBook::regrant(ReservationEntry& entry, bool quietly) {
  if (!entry.standIn) return;
  auto wanted = grantOf(entry);
  const auto& now = entry.standIn->granted;
  const bool isSame = (!wanted && !now) || (wanted && now && wanted->all == now->all);
  if (!isSame) table_.regrant(entry.standIn, std::move(wanted), quietly);
  if (!quietly) onHeld(*entry.standIn);
}

// ---- pods on nodes -----------------------------------------------------------------------------

void ReservationBook::stand(ReservationEntry& entry, const PodPtr& pod) {
  entry.standIn = pod;
  entry.ahead = entry.room.allocatable;  // until it is on the row
  if (auto left = grantOf(entry)) pod->granted = std::move(left);
}

void ReservationBook::unstand(ReservationEntry& entry) {
  if (const auto at = onRow_.find(entry.place); at != onRow_.end()) {
    std::erase_if(at->second, [&](const ReservationPtr& one) { return one.get() == &entry; });
    if (at->second.empty()) onRow_.erase(at);
  }
  entry.place = kNoRow;
  entry.standIn = nullptr;
}

void ReservationBook::readPod(const PodPtr& pod) {
  const ReservationPtr entry = entryFor(pod->pod->meta.uid);
  const bool wasOpen = entry->isOpen();
  const Amounts own = amountsOfRequests(pod->cls->requests);  // not what is left of them
  entry->isPod = true;
  entry->name = pod->pod->meta.name.str();
  auto offer = offerOf(*pod->pod, quantitiesOf(own));
  entry->trouble = offer ? "" : offer.error().text();
  entry->room = ReservedRoom::plain(entry->name, AllocatePolicy::kAligned, own);
  if (auto options = api::parseReservationRestrictedOptions(pod->pod->meta.annotations);
      options && *options)
    entry->room.restrictTo((*options)->resources);
  entry->offer = offer ? std::optional(std::move(*offer)) : std::nullopt;
  recount(*entry, false);
  if (wasOpen != entry->isOpen()) note(*entry);
}

void ReservationBook::arriving(const PodPtr& pod) {
  const api::Uid& uid = pod->pod->meta.uid;
  if (pod->isStandIn) return stand(*entryFor(uid), pod);
  if (api::isReservationPod(pod->pod->meta.labels)) {
    readPod(pod);
    return stand(*entryFor(uid), pod);
  }
  if (const api::Uid entered = enteredBy(*pod->pod); !entered.empty())
    join(*entryFor(entered), pod, !pod->assumed);
}

void ReservationBook::arrived(const PodPtr& pod) {
  const ReservationPtr entry = find(pod->pod->meta.uid);
  if (!entry || entry->standIn != pod || pod->row == kNoRow) return;
  entry->place = pod->row;
  onRow_[pod->row].push_back(entry);
  note(*entry);
}

void ReservationBook::left(const PodPtr& pod) {
  leave(pod->pod->meta.uid);
  const ReservationPtr entry = find(pod->pod->meta.uid);
  if (!entry || entry->standIn != pod) return;
  if (pod->isStandIn) pod->granted = nullptr;
  unstand(*entry);
  giveUpTaken(*entry);
  if (entry->isPod) entry->offer.reset();
  note(*entry);
  dropIfUnused(entry->uid);
}

// Running pods that a reservation was about to take over, and did not.
void ReservationBook::giveUpTaken(ReservationEntry& entry) {
  std::erase_if(entry.owners, [&](const auto& one) {
    const bool taken = !one.second.confirmed && !one.second.pod->assumed;
    if (taken) ownerOf_.erase(one.first);
    return taken;
  });
  recount(entry, false);
}

// A pod that is on its way into a reservation does not say so yet.
void ReservationBook::updated(const PodPtr& pod) {
  const api::Uid& uid = pod->pod->meta.uid;
  if (api::isReservationPod(pod->pod->meta.labels) && !pod->isStandIn) return readPod(pod);
  const api::Uid entered = enteredBy(*pod->pod);
  const ReservationPtr before = ofOwner(uid);
  if (!entered.empty()) {
    const bool known = before && before->uid == entered && before->owners.at(uid).confirmed;
    if (!known) join(*entryFor(entered), pod, true);
  } else if (before && before->owners.at(uid).confirmed) {
    leave(uid);
  }
}

void ReservationBook::ended(const api::Pod& pod) {
  const ReservationPtr entry = find(enteredBy(pod));
  if (!entry || entry->isPod || !entry->isOnce() || entry->spent) return;
  entry->spent = true;
  recount(*entry, false);
  note(*entry);
}

void ReservationBook::away(const PodPtr& pod, bool quietly) {
  const ReservationPtr entry = ofOwner(pod->pod->meta.uid);
  if (!entry) return;
  entry->owners.at(pod->pod->meta.uid).away = true;
  recount(*entry, quietly);
}

void ReservationBook::back(const PodPtr& pod, bool quietly) {
  const ReservationPtr entry = ofOwner(pod->pod->meta.uid);
  if (!entry) return;
  entry->owners.at(pod->pod->meta.uid).away = false;
  recount(*entry, quietly);
}

void ReservationBook::nodeChanged(Row row) {
  for (const ReservationPtr& entry : on(row)) note(*entry);
}

// ---- the log -----------------------------------------------------------------------------------

void ReservationBook::note(const ReservationEntry& entry) {
  if (log_.size() >= kLongestLog) {
    log_.erase(log_.begin(), log_.begin() + kLongestLog / 2);
    logBase_ += kLongestLog / 2;
  }
  log_.push_back(entry.uid);
  if (entry.place != kNoRow) table_.touch(entry.place);
}

std::optional<std::vector<api::Uid>> ReservationBook::changedSince(uint64_t mark) const {
  if (mark < logBase_ || mark > now()) return std::nullopt;
  return std::vector<api::Uid>(log_.begin() + static_cast<long>(mark - logBase_), log_.end());
}

}  // namespace mangrove::placement
