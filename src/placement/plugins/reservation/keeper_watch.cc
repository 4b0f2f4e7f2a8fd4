// What time and other schedulers do to reservations.
#include <algorithm>

#include <fmt/format.h>

#include "base/number/elapsed.h"
#include "placement/plugins/reservation/keeper.h"
#include "placement/reservation/reserve_pod.h"
#include "placement/reservation/status.h"

namespace mangrove::placement {
namespace {

constexpr std::chrono::seconds kAskAgain{15};
constexpr std::chrono::seconds kSpare{1};

// What lacks on the row for everybody who is there when it begins, in the names it reserves.
Amounts lackingAt(const ReservationEntry& entry, const Cluster& cluster) {
  const ReservationBook& book = cluster.reservations;
  const WallTime start = entry.beginning.start;
  Amounts out;
  for (const PodPtr& pod : cluster.table.info(entry.place).pods)
    if (!pod->isStandIn && !pod->terminating) out.add(book.amountsOfRequests(pod->requests()));
  for (const ReservationPtr& other : book.on(entry.place)) {
    if (other->isPod || other->beginning.end <= start) continue;
    if (!other->waits) out.add(other->held());
    if (other->waits && other->beginning.start <= start) out.add(other->room.allocatable);
  }
  for (const auto& [name, amount] : entry.room.allocatable) {
    const ResourceId id = const_cast<NodeTable&>(cluster.table).resources().of(name);
    Amounts there;
    there.set(name, cluster.table.allocatable(id)[entry.place]);
    out.subtract(there);
  }
  out.keepOnly(entry.room.allocatable);
  return out;
}

// By those who should be gone when it begins and are not: pods that take their time, and
// reservations whose end nobody has written yet.
Amounts stillHeld(const ReservationEntry& entry, const Cluster& cluster) {
  const ReservationBook& book = cluster.reservations;
  Amounts out;
  for (const PodPtr& pod : cluster.table.info(entry.place).pods)
    if (!pod->isStandIn && pod->terminating) out.add(book.amountsOfRequests(pod->requests()));
  for (const ReservationPtr& other : book.on(entry.place))
    if (!other->isPod && !other->waits && other->beginning.end <= entry.beginning.start)
      out.add(other->held());
  return out;
}

struct Leaver {
  PodPtr pod;
  Departure departure;
  Amounts amounts;
};

// First those who said that they would be gone, then the least important.
std::vector<Leaver> leaversOf(const ReservationEntry& entry, const Cluster& cluster, WallTime now) {
  std::vector<Leaver> out;
  for (const PodPtr& pod : cluster.table.info(entry.place).pods) {
    if (pod->isStandIn || pod->terminating) continue;
    const Departure departure = departureOf(*pod->pod, now);
    if (makesWay(departure, entry.beginning))
      out.push_back({pod, departure, cluster.reservations.amountsOfRequests(pod->requests())});
  }
  std::ranges::sort(out, [&](const Leaver& a, const Leaver& b) {
    const auto key = [&](const Leaver& one) {
      return std::tuple(one.departure.promised > entry.beginning.start, one.departure.priority,
                        one.pod->pod->meta.uid.str());
    };
    return key(a) < key(b);
  });
  return out;
}

WallTime mustLeaveAt(const PodInfo& pod, const ReservationEntry& entry) {
  const std::chrono::seconds grace(pod.pod->spec->terminationGracePeriodSeconds);
  return entry.beginning.start - grace - kSpare;
}

std::string amountText(Interned name, int64_t amount) {
  return quantityOf(name, amount).text();
}

}  // namespace

// Whoever still uses its room goes in time to have had his grace when it begins, and nobody whose
// room it does not need.
void ReservationKeeper::sendAway(const ReservationEntry& entry, WallTime now) {
  if (!deeds_ || entry.place == kNoRow || !entry.standIn) return;
  const std::vector<Leaver> leavers = leaversOf(entry, cluster_, now);
  const bool isTime = std::ranges::any_of(
      leavers, [&](const Leaver& one) { return mustLeaveAt(*one.pod, entry) <= now; });
  if (!isTime) return;
  std::vector<Amounts> amounts;
  for (const Leaver& one : leavers) amounts.push_back(one.amounts);
  for (size_t i : whoGoes(amounts, lackingAt(entry, cluster_))) {
    const PodPtr& pod = leavers[i].pod;
    if (mustLeaveAt(*pod, entry) > now) continue;
    WallTime& asked = sent_[pod->pod->meta.uid];
    if (asked != WallTime() && elapsed(asked, now) < kAskAgain) continue;
    asked = now;
    deeds_->expel(pod, *entry.standIn->pod);
  }
}

void ReservationKeeper::lookAhead(const ReservationPtr& entry, WallTime now,
                                  std::vector<ObjectPatch>& out) {
  const api::Reservation& object = *entry->object;
  if (const auto wanted = nextStatus(object, {}, now, true)) {
    out.push_back(statusPatch(object, *wanted));
    return;
  }
  if (entry->place == kNoRow) {
    out.push_back(statusPatch(object, unplannedStatus(object, now)));
    return;
  }
  sendAway(*entry, now);
  std::erase_if(sent_, [&](const auto& one) { return !cluster_.find(one.first); });
  if (now < entry->beginning.start) return;
  Amounts lacking = lackingAt(*entry, cluster_);
  lacking.add(stillHeld(*entry, cluster_));
  lacking.keepOnly(entry->room.allocatable);
  lacking.holdAboveZero();
  lacking.dropZeros();
  if (lacking.empty()) {
    out.push_back(statusPatch(object, availableStatus(object, object.status.nodeName, now)));
    return;
  }
  const std::string why = fmt::format("its room on node {} is not free yet: {} are missing",
                                      object.status.nodeName, textOf(lacking));
  if (const auto late = lateStatus(object, why, now)) out.push_back(statusPatch(object, *late));
}

void ReservationKeeper::strangerCame(const PodInfo& pod, Row row) {
  // Most who come find room; looking through all reservations for each of them would cost more than
  // placing pods does.
  if (cluster_.reservations.isOver(row) || overText(row).empty()) return;
  strangers_[row] = fmt::format("pod {} of scheduler {}", api::keyOf(pod.pod->meta).text(),
                                pod.pod->spec->schedulerName.view());
}

// What is taken there and more than there is, not counting what is kept for later; "": nothing.
std::string ReservationKeeper::overText(Row row) const {
  for (const ReservationPtr& entry : cluster_.reservations.on(row))
    for (const auto& [name, amount] : entry->room.allocatable) {
      if (entry->waits || amount == 0 || args_.isIgnored(name.view())) continue;
      const ResourceId id = cluster_.table.resources().of(name);
      int64_t taken = cluster_.table.requested(id)[row];
      for (const ReservationPtr& other : cluster_.reservations.on(row))
        if (other->waits) taken -= other->held().amount(name);
      const int64_t there = cluster_.table.allocatable(id)[row];
      if (taken > there)
        return fmt::format("{}: {} of {} are taken", name.view(), amountText(name, taken),
                           amountText(name, there));
    }
  return "";
}

void ReservationKeeper::lookForOver() {
  ReservationBook& book = cluster_.reservations;
  book.eachRow([&](Row row) {
    const std::string over = overText(row);
    const bool isNews = !over.empty() && !book.isOver(row);
    book.setOver(row, !over.empty());
    if (!isNews || !deeds_) return;
    const auto who = strangers_.find(row);
    for (const ReservationPtr& entry : book.on(row))
      if (entry->object && entry->standIn)
        deeds_->overcommitted(
            *entry->standIn->pod,
            fmt::format("node {} is over-committed ({}): {} is there beside this reservation; "
                        "nothing more is placed there",
                        cluster_.table.info(row).name.view(), over,
                        who == strangers_.end() ? "a pod of another scheduler" : who->second));
  });
  strangers_.clear();
}

}  // namespace mangrove::placement
