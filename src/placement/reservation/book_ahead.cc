// Reservations that begin later, as the books count them.
#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "placement/reservation/book.h"
#include "placement/reservation/expiry.h"
#include "placement/reservation/reserve_pod.h"

namespace mangrove::placement {

void ReservationBook::setWaits(ReservationEntry& entry, bool waits) {
  waiting_ += static_cast<size_t>(waits) - static_cast<size_t>(entry.waits);
  entry.waits = waits;
}

void ReservationBook::readStart(ReservationEntry& entry) {
  const api::Reservation& object = *entry.object;
  entry.beginning = {startOf(object), endOf(object).value_or(WallTime::max()),
                     saidPriority(object)};
  const bool begins = entry.beginning.start != kZeroTime;
  setWaits(entry, begins && !isAvailable(object) && !isTerminal(object));
}

void ReservationBook::setTime(WallTime now) {
  const WallTime before = std::exchange(time_, now);
  if (waiting_ == 0) return;
  for (const auto& [uid, entry] : entries_) {
    if (!entry->waits || entry->place == kNoRow) continue;
    lookAhead(entry->place, false);
    const WallTime start = entry->beginning.start;
    if (hasTimedClasses || (before < start && start <= now)) note(*entry);
  }
}

// By their start; of one that a trial has taken away nothing is to be left for now.
std::vector<ReservationEntry*> ReservationBook::waitingOn(Row row) const {
  std::vector<ReservationEntry*> out;
  for (const ReservationPtr& entry : on(row))
    if (entry->waits && entry->standIn && entry->standIn->row == row) out.push_back(entry.get());
  std::ranges::sort(out, [](const ReservationEntry* a, const ReservationEntry* b) {
    return std::tie(a->beginning.start, a->name) < std::tie(b->beginning.start, b->name);
  });
  return out;
}

// A reservation that ends leaves its owners behind, who are pods like others.
Departure ReservationBook::departureOf(const PodInfo& pod) const {
  if (!pod.isStandIn) return placement::departureOf(*pod.pod, time_);
  Departure out;
  out.priority = std::numeric_limits<int32_t>::max();
  if (const ReservationPtr entry = find(pod.pod->meta.uid)) out.promised = entry->beginning.end;
  return out;
}

// What is needed at each start beyond what is taken now, in the order of the starts: more is never
// needed at any other time, because in between pods only go.
void ReservationBook::lookAhead(Row row, bool quietly) {
  const std::vector<ReservationEntry*> waiting = waitingOn(row);
  if (waiting.empty()) return;
  struct Present {
    Amounts amounts;
    Departure departure;
  };
  std::vector<Present> present;
  Amounts taken;
  for (const PodPtr& pod : table_.info(row).pods) {
    if (pod->isStandIn && std::ranges::any_of(waiting, [&](const ReservationEntry* one) {
          return one->standIn == pod;
        }))
      continue;
    present.push_back({amountsOfRequests(pod->requests()), departureOf(*pod)});
    taken.add(present.back().amounts);
  }
  Amounts before;
  for (ReservationEntry* entry : waiting) {
    const Beginning& mine = entry->beginning;
    const bool isDue = mine.start <= time_;
    Amounts needed;
    for (const Present& one : present)
      if (isDue || !makesWay(one.departure, mine)) needed.add(one.amounts);
    for (const ReservationEntry* other : waiting)
      if (other->beginning.start <= mine.start && other->beginning.end > mine.start)
        needed.add(other->room.allocatable);
    needed.subtract(taken);
    needed.holdAboveZero();
    needed.raiseTo(before);
    entry->ahead = needed;
    entry->ahead.subtract(before);
    before = std::move(needed);
    regrant(*entry, quietly);
  }
}

std::vector<PodPtr> ReservationBook::goneBy(const ReservationEntry& entry, Row row) const {
  std::vector<PodPtr> out;
  const Beginning& mine = entry.beginning;
  if (mine.start <= time_) return out;
  for (const PodPtr& pod : table_.info(row).pods) {
    const ReservationPtr other = pod->isStandIn ? find(pod->pod->meta.uid) : nullptr;
    const bool comesLater = other && other->waits;  // both have their time, which may not meet
    const bool isGone =
        comesLater ? other->beginning.start >= mine.end || other->beginning.end <= mine.start
                   : makesWay(departureOf(*pod), mine);
    if (isGone) out.push_back(pod);
  }
  return out;
}

// A pod that is evicted for somebody is there until he begins.
std::vector<Tenure> ReservationBook::tenures(Row row) const {
  const std::vector<ReservationEntry*> waiting = waitingOn(row);
  std::vector<Tenure> out;
  for (const PodPtr& pod : table_.info(row).pods) {
    if (pod->isStandIn) continue;
    const Departure departure = departureOf(*pod);
    Tenure one{"pod " + api::keyOf(pod->pod->meta).text(), amountsOfRequests(pod->requests())};
    if (departure.mayBeSent && departure.promised != WallTime::max())
      one.until = std::max(departure.promised, time_);
    for (const ReservationEntry* entry : waiting)
      if (makesWay(departure, entry->beginning))
        one.until = std::min(one.until, std::max(entry->beginning.start, time_));
    out.push_back(std::move(one));
  }
  for (const ReservationPtr& entry : on(row)) {
    if (entry->isPod) continue;
    Tenure one{"reservation " + entry->name,
               entry->waits ? entry->room.allocatable : entry->held()};
    if (entry->waits) one.from = entry->beginning.start;
    one.until = entry->beginning.end;
    out.push_back(std::move(one));
  }
  return out;
}

void ReservationBook::eachRow(const std::function<void(Row)>& visit) const {
  std::set<Row> rows(over_.begin(), over_.end());
  for (const auto& [row, entries] : onRow_) rows.insert(row);
  for (Row row : rows) visit(row);
}

void ReservationBook::setOver(Row row, bool over) {
  const bool changed = over ? over_.insert(row).second : over_.erase(row) > 0;
  if (changed) table_.touch(row);
}

}  // namespace mangrove::placement
