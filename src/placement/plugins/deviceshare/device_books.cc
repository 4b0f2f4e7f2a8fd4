#include "placement/plugins/deviceshare/device_books.h"

#include <algorithm>

#include "api/annotations/reservation.h"
#include "api/wire/names.h"
#include "base/os/log.h"
#include "base/text/strings.h"
#include "placement/device/allocate.h"
#include "placement/plugins/deviceshare/device_plan.h"

namespace mangrove::placement {
namespace {

const Logger deviceLog("scheduler");

// Whose reservation the pod's cards come from; empty: nobody's.
api::Uid lenderOf(const api::Pod& pod) {
  const auto allocated = api::parseReservationAllocated(pod.meta.annotations);
  if (!allocated || !*allocated || (*allocated)->uid.empty()) return {};
  return api::Uid((*allocated)->uid);
}

}  // namespace

DeviceBooks::DeviceBooks(Cluster& cluster) : cluster_(cluster) {
  for (Row row : cluster.table.liveRows()) nodeChanged(row);
}

DeviceBooks& DeviceBooks::of(Cluster& cluster) {
  if (!cluster.deviceBooks) {
    cluster.deviceBooks = std::make_shared<DeviceBooks>(cluster);
    cluster.listen(*cluster.deviceBooks);
  }
  return *cluster.deviceBooks;
}

DeviceBook& DeviceBooks::at(Row row) {
  if (row >= books_.size()) books_.resize(row + 1);
  if (!books_[row]) books_[row] = std::make_unique<DeviceBook>();
  return *books_[row];
}

void DeviceBooks::hold(Row row, const api::Uid& holder, HeldDevices devices, std::string text,
                       const api::Uid& lender) {
  at(row).hold(holder, std::move(devices), lender);
  texts_[holder] = std::move(text);
}

void DeviceBooks::release(Row row, const api::Uid& holder) {
  if (row >= books_.size() || !books_[row] || !books_[row]->find(holder)) return;
  books_[row]->release(holder);
  texts_.erase(holder);
  nominated_.erase(holder);
  if (told_.contains(row)) recheck(row);
}

// ---- reservations

void DeviceBooks::lend(Row row, DeviceLoan loan) {
  if (!find(row) || !find(row)->find(loan.lender)) return;
  books_[row]->lend(loan.lender);
  loans_[row].push_back(std::move(loan));
}

void DeviceBooks::takeBack(Row row) {
  const auto lent = loans_.find(row);
  if (lent == loans_.end()) return;
  for (const DeviceLoan& loan : lent->second) books_[row]->takeBack(loan.lender);
  loans_.erase(lent);
}

const std::vector<DeviceLoan>& DeviceBooks::loans(Row row) const {
  static const std::vector<DeviceLoan> kNone;
  if (loans_.empty()) return kNone;
  const auto at = loans_.find(row);
  return at == loans_.end() ? kNone : at->second;
}

const DeviceLoan* DeviceBooks::nominated(const api::Uid& pod) const {
  const auto at = nominated_.find(pod);
  return at == nominated_.end() ? nullptr : &at->second;
}

// ---- pods

void DeviceBooks::podAdded(const PodInfo& pod, Row row, bool trial) {
  if (trial) return tryOut(pod, row);
  if (pod.assumed) return;  // what we decide is held when it is reserved
  if (adopt(pod, row)) recheck(row);
}

void DeviceBooks::podRemoved(const PodInfo& pod, Row row, bool trial) {
  const api::Uid& uid = pod.pod->meta.uid;
  if (!find(row)) return;
  if (!trial || tried_.erase(uid) > 0) return release(row, uid);
  books_[row]->suspend(uid);
}

void DeviceBooks::podUpdated(const PodInfo& pod, Row row) {
  if (!adopt(pod, row)) return;
  cluster_.table.touch(row);
  recheck(row);
}

// Takes over what the pod's annotation says, unless it is known; what the server has is the truth,
// whatever we decided.
bool DeviceBooks::adopt(const PodInfo& pod, Row row) {
  const auto text = pod.pod->meta.annotations.get(api::annotation::kDeviceAllocated);
  if (!text) return false;
  const api::Uid& uid = pod.pod->meta.uid;
  const bool known = find(row) && find(row)->find(uid);
  if (const auto before = texts_.find(uid);
      known && before != texts_.end() && before->second == *text)
    return false;
  auto allocations = api::parseDeviceAllocations(pod.pod->meta.annotations);
  if (!allocations) {
    deviceLog.warn("pod {}/{}: {}; its cards are not counted", pod.pod->meta.ns.view(),
                   pod.pod->meta.name.view(), allocations.error().text());
    return false;
  }
  if (!*allocations) return false;
  hold(row, uid, heldOf(**allocations), std::string(*text), lenderOf(*pod.pod));
  return true;
}

// A pod comes back into a trial, or one is put there that has no node yet: then it takes what it
// would be given.
void DeviceBooks::tryOut(const PodInfo& pod, Row row) {
  const DeviceBook* book = find(row);
  if (!book) return;
  const api::Uid& uid = pod.pod->meta.uid;
  if (book->find(uid)) return books_[row]->resume(uid);
  if (!book->isReported()) return;
  HeldDevices got = wouldGet(pod, row);
  if (got.empty()) return;
  tried_.insert(uid);
  books_[row]->hold(uid, std::move(got));
}

// As the node is; where that is not enough, when those are gone who are going, and then all who
// matter less: its victims are among them.
HeldDevices DeviceBooks::wouldGet(const PodInfo& pod, Row row) const {
  const DevicePlan plan = compileDevices(*pod.cls, cluster_.table.resources());
  if (!plan.asks || !plan.refusal.empty()) return {};
  const auto without = [&](auto isGone) -> HeldDevices {
    DeviceBook rest = *books_[row];
    for (const auto& [uid, holding] : books_[row]->holdings())
      if (const PodPtr holder = cluster_.find(uid); holder && isGone(*holder)) rest.release(uid);
    const AllocatedDevices got = allocateDevices(rest.devices(), plan.wish, {});
    return got ? heldOf(annotationOf(*got)) : HeldDevices();
  };
  HeldDevices got = without([](const PodInfo&) { return false; });
  if (got.empty()) got = without([](const PodInfo& other) { return other.terminating; });
  if (got.empty())
    got = without([&](const PodInfo& other) { return other.cls->priority < pod.cls->priority; });
  return got;
}

std::vector<api::Uid> DeviceBooks::seatNominated(Row row, const PodInfo& pod) {
  std::vector<api::Uid> out;
  if (!cluster_.isNominated(row)) return out;
  for (const PodPtr& other : cluster_.nominatedOn(cluster_.table.info(row).name)) {
    const api::Uid& uid = other->pod->meta.uid;
    if (uid == pod.pod->meta.uid || other->row != kNoRow || find(row)->find(uid) ||
        other->cls->priority < pod.cls->priority)
      continue;
    tryOut(*other, row);
    if (tried_.contains(uid)) out.push_back(uid);
  }
  return out;
}

void DeviceBooks::unseat(Row row, const std::vector<api::Uid>& seated) {
  for (const api::Uid& uid : seated) {
    tried_.erase(uid);
    books_[row]->release(uid);
  }
}

// ---- nodes

void DeviceBooks::report(Row row) {
  const auto& info = cluster_.table.info(row);
  const auto device = cluster_.devices.find(info.name.view());
  if (!device && !find(row)) return;
  troubles_.erase(row);
  const auto ok = at(row).report(device.get(), info.node->meta.labels);
  if (ok) return;
  deviceLog.warn("node {}: {}; what was known of its devices before stays", info.name.view(),
                 ok.error().text());
  troubles_[row] = ok.error().text();
}

void DeviceBooks::nodeChanged(Row row) {
  if (cluster_.devices.size() > 0 || find(row)) report(row);
}

void DeviceBooks::nodeGone(Row row) {
  if (!find(row)) return;
  books_[row].reset();
  quarrels_ -= quarrelsOn_[row];
  quarrelsOn_.erase(row);
  told_.erase(row);
  troubles_.erase(row);
}

void DeviceBooks::deviceChanged(Row row) {
  report(row);
  cluster_.table.touch(row);
  recheck(row);
}

void DeviceBooks::putTemplates(TemplatesByModel templates) {
  templates_ = std::move(templates);
  templatesGeneration_++;
}

std::string DeviceBooks::troubleOf(Row row) const {
  const auto at = troubles_.find(row);
  return at == troubles_.end() ? "" : at->second;
}

// ---- what is wrong

std::string DeviceBooks::nameOf(const api::Uid& holder) const {
  if (const PodPtr pod = cluster_.find(holder))
    return fmt::format("{}/{}", pod->pod->meta.ns.view(), pod->pod->meta.name.view());
  return fmt::format("reservation {}", holder.str());
}

std::map<api::Uid, std::set<std::string>> DeviceBooks::troublesOn(Row row) const {
  std::map<api::Uid, std::set<std::string>> out;
  const DeviceBook& book = *books_[row];
  const std::string_view node = cluster_.table.info(row).name.view();
  for (const DeviceQuarrel& one : book.quarrels()) {
    std::vector<std::string> names;
    for (const api::Uid& holder : one.holders) names.push_back(nameOf(holder));
    for (const api::Uid& holder : one.holders)
      out[holder].insert(fmt::format("{} {} of node {} is given to {}: more than there is of {}",
                                     one.type, one.minor, node, join(names, " and "), one.over));
  }
  if (!cluster_.devices.find(node)) return out;  // until its agent is back nobody knows
  for (const auto& [type, cards] : book.devices().byType)
    for (const Card& card : cards) {
      if (!card.inUse() || !card.total.empty()) continue;
      const std::string what =
          fmt::format("{} {} of node {} {}", type, card.minor, node,
                      card.reported ? "is reported unhealthy" : "is no longer reported");
      for (const api::Uid& holder : book.holdersOf(type, card.minor)) out[holder].insert(what);
    }
  return out;
}

// Says what is new; what has ended may be said again.
void DeviceBooks::recheck(Row row) {
  if (!find(row)) return;
  const size_t before = std::exchange(quarrelsOn_[row], books_[row]->quarrels().size());
  quarrels_ = quarrels_ - before + quarrelsOn_[row];
  auto now = troublesOn(row);
  auto& told = told_[row];
  for (const auto& [holder, sentences] : now)
    for (const std::string& sentence : sentences) {
      if (told[holder].contains(sentence)) continue;
      deviceLog.warn("{}: {}", nameOf(holder), sentence);
      if (const PodPtr pod = cluster_.find(holder); pod && tell_) tell_(*pod->pod, sentence);
    }
  told = std::move(now);
  if (told.empty()) told_.erase(row);
}

}  // namespace mangrove::placement
