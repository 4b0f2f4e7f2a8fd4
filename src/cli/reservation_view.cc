#include "cli/reservation_view.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text/strings.h"
#include "base/text/time_text.h"
#include "client/each_object.h"
#include "placement/intake/transform.h"
#include "placement/plugins/reservation/page.h"
#include "placement/reservation/expiry.h"
#include "placement/reservation/fit.h"
#include "placement/reservation/reserve_pod.h"

namespace mangrove::cli {
namespace {

using placement::Meeting;
using placement::ReservationEntry;

constexpr size_t kShown = 10;

std::string shown(const placement::Amounts& amounts, Interned name) {
  return placement::quantityOf(name, amounts.amount(name)).text();
}

std::string amountsTable(const ReservationEntry& entry) {
  std::vector<std::vector<std::string>> rows{{"RESOURCE", "RESERVED", "TAKEN", "LEFT"}};
  const placement::Amounts left = entry.isOpen() ? entry.room.remaining() : placement::Amounts();
  for (const auto& [name, amount] : entry.room.allocatable)
    rows.push_back({name.str(), shown(entry.room.allocatable, name), shown(entry.used, name),
                    shown(left, name)});
  std::sort(rows.begin() + 1, rows.end());
  return tableText(rows);
}

// What is taken on a node from now on, as far as pods and reservations say when they come and go.
std::string stepsText(const placement::Cluster& cluster, placement::Row row) {
  const auto& book = cluster.reservations;
  const auto tenures = book.tenures(row);
  const auto steps = placement::stepsOf(tenures, book.time());
  placement::Amounts names;
  for (const auto& entry : book.on(row)) names.add(entry->room.allocatable);
  std::vector<std::vector<std::string>> rows{{"FROM"}};
  for (const auto& [name, amount] : names) rows[0].push_back(name.str());
  rows[0].emplace_back("BECAUSE");
  for (const auto& step : steps) {
    std::vector<std::string> line{step.at == book.time() ? "now" : formatTime(step.at)};
    for (const auto& [name, amount] : names) line.push_back(shown(step.taken, name));
    std::vector<std::string> why;
    for (const std::string& who : step.comes) why.push_back(who + " begins");
    for (const std::string& who : step.goes) why.push_back(who + " is gone");
    line.push_back(join(why, ", "));
    rows.push_back(std::move(line));
  }
  return fmt::format("\nTaken on node {} over time:\n", cluster.table.info(row).name.view()) +
         tableText(rows, "  ");
}

std::string ownersText(const ReservationEntry& entry) {
  std::string out;
  for (const auto& [uid, owner] : entry.owners)
    out += fmt::format("  {}\n", api::keyOf(owner.pod->pod->meta).text());
  return out.empty() ? "\nNobody is in it.\n" : "\nTaken by:\n" + out;
}

std::string conditionText(const api::Reservation& reservation) {
  for (const auto& one : reservation.status.conditions)
    if (one.type == "Scheduled" && one.status == "False") return one.message;
  return "no scheduler has said anything about it yet";
}

std::string endText(const api::Reservation& reservation, WallTime now) {
  const auto end = placement::endOf(reservation);
  if (!end) return "it has no end";
  const auto left = *end - now;
  return left > left.zero() ? fmt::format("it ends in {}", formatDuration(left))
                            : std::string("its time is over");
}

std::string answerFor(const ReservationEntry& entry, WallTime now) {
  const api::Reservation& object = *entry.object;
  const std::string& phase = object.status.phase;
  if (phase == api::reservation_phase::kSucceeded)
    return fmt::format("reservation {} was taken by its owner and is over", entry.name);
  if (phase == api::reservation_phase::kFailed)
    return fmt::format("reservation {} is over: expired, or its node is gone", entry.name);
  if (placement::isPlanned(object))
    return fmt::format("reservation {} begins on node {} at {}, in {}", entry.name,
                       object.status.nodeName, formatTime(entry.beginning.start),
                       formatDuration(std::chrono::ceil<std::chrono::seconds>(
                           std::max<Duration>(entry.beginning.start - now, {}))));
  if (!placement::isAvailable(object))
    return fmt::format("reservation {} has no place: {}", entry.name, conditionText(object));
  return fmt::format("reservation {} is on node {}, {}", entry.name, object.status.nodeName,
                     endText(object, now));
}

std::string_view textOf(Meeting meeting) {
  switch (meeting) {
    case Meeting::kMatched:
    case Meeting::kIgnored:
      return "may enter it";
    case Meeting::kNotMatchable:
      return "would be an owner, but it is taken or not available";
    case Meeting::kNotOwner:
      return "is none of its owners";
    case Meeting::kOtherName:
      return "wants another one by name";
    case Meeting::kClosed:
      return "would be an owner, but spec.unschedulable is set or it is being deleted";
    case Meeting::kUntoleratedTaint:
      return "does not tolerate its taints in the annotation reservation-affinity";
    case Meeting::kOtherLabels:
      return "wants other labels in the annotation reservation-affinity";
    case Meeting::kNotExact:
      return "wants exactly its own amounts reserved";
  }
  return "";
}

}  // namespace

void ReservationView::add(const std::shared_ptr<api::Node>& node) {
  placement::transformNode(*node);
  cluster_.putNode(node);
}

void ReservationView::add(const std::shared_ptr<api::Reservation>& reservation) {
  cluster_.reservations.put(reservation);
  const bool hasPlace = placement::isAvailable(*reservation) || placement::isPlanned(*reservation);
  if (placement::checkReservation(*reservation) && hasPlace)
    cluster_.observe(std::make_shared<api::Pod>(placement::reservePodOf(*reservation)));
}

void ReservationView::add(const std::shared_ptr<api::Pod>& pod) {
  placement::transformPod(*pod);
  if (api::isTerminated(*pod)) return cluster_.reservations.ended(*pod);
  if (pod->nodeName.empty())
    waiting_.push_back(pod);
  else
    cluster_.observe(pod);
}

Result<> ReservationView::load(client::ApiClient& client) {
  namespace kind = client::kind;
  using std::shared_ptr;
  if (auto ok = client::eachObject<api::Node>(
          client, kind::kNode, [&](const shared_ptr<api::Node>& node) { add(node); });
      !ok)
    return ok;
  if (auto ok = loadReservations(client); !ok) return ok;
  return client::eachObject<api::Pod>(client, kind::kPod,
                                      [&](const shared_ptr<api::Pod>& pod) { add(pod); });
}

Result<> ReservationView::loadReservations(client::ApiClient& client) {
  return client::eachObject<api::Reservation>(
      client, client::kind::kReservation,
      [&](const std::shared_ptr<api::Reservation>& one) { add(one); });
}

Result<> ReservationView::loadNode(client::ApiClient& client, const std::string& node) {
  const auto text = client.get({client::kind::kNode, "", node});
  if (!text) return pass(text.error());
  auto object = api::decodeText<api::Node>(*text);
  if (!object) return pass(object.error());
  add(std::make_shared<api::Node>(std::move(*object)));
  if (auto ok = loadReservations(client); !ok) return ok;
  client::Query query{.fieldSelector = "spec.nodeName=" + node, .limit = 500};
  do {
    auto page = client.list(client::kind::kPod, "", query);
    if (!page) return pass(page.error());
    for (auto item : page->items)
      if (auto pod = api::decodeText<api::Pod>(item))
        add(std::make_shared<api::Pod>(std::move(*pod)));
    query.continueToken = page->continueToken;
  } while (!query.continueToken.empty());
  return {};
}

std::string ReservationView::tellNode(std::string_view node, WallTime now, json::Object& data) {
  cluster_.reservations.setTime(now);
  const placement::Row row = cluster_.table.find(node);
  if (row == placement::kNoRow || cluster_.reservations.on(row).empty()) return "";
  std::vector<std::vector<std::string>> rows{
      {"RESERVATION", "RESOURCE", "RESERVED", "TAKEN", "LEFT"}};
  for (const auto& entry : cluster_.reservations.on(row))
    for (const auto& [name, amount] : entry->room.allocatable)
      rows.push_back({entry->name, name.str(), shown(entry->room.allocatable, name),
                      shown(entry->used, name),
                      entry->waits ? "later" : shown(entry->held(), name)});
  std::sort(rows.begin() + 1, rows.end());
  if (const auto page = placement::reservationPage(cluster_, "nodes/" + std::string(node)))
    data["reservations"] = *page;
  return "\nReserved:\n" + tableText(rows, "  ") + stepsText(cluster_, row);
}

// Pods that wait and their relation to it; strangers are only counted.
std::string ReservationView::waiting(const ReservationEntry& entry) const {
  static const api::Labels kNoLabels;
  const api::Labels& node =
      entry.place == placement::kNoRow ? kNoLabels : cluster_.table.node(entry.place).meta.labels;
  std::string out;
  size_t strangers = 0, listed = 0;
  for (const auto& pod : waiting_) {
    const auto claim = placement::ReservationClaim::of(*pod);
    if (!claim || !entry.offer) continue;
    Meeting meeting = meet(*claim, *entry.offer, node, entry.present());
    if (meeting == Meeting::kNotMatchable && !entry.offer->owners.match(*pod))
      meeting = Meeting::kNotOwner;
    if (meeting == Meeting::kNotOwner)
      strangers++;
    else if (listed++ < kShown)
      out += fmt::format("  {} {}\n", api::keyOf(pod->meta).text(), textOf(meeting));
  }
  if (listed > kShown) out += fmt::format("  and {} more\n", listed - kShown);
  if (strangers > 0) out += fmt::format("  {} that are none of its owners\n", strangers);
  return out.empty() ? "\nNo pod waits.\n" : "\nPods that wait:\n" + out;
}

Result<Told> ReservationView::tell(std::string_view name, WallTime now) {
  cluster_.reservations.setTime(now);
  const auto entry = cluster_.reservations.findByName(name);
  if (!entry || !entry->object) return fail(Code::kNotFound, "there is no reservation '{}'", name);
  Told told;
  told.answer = answerFor(*entry, now);
  const api::Reservation& object = *entry->object;
  told.good = placement::isAvailable(object) || placement::isPlanned(object) ||
              placement::isTerminal(object);
  told.terms = amountsTable(*entry) + ownersText(*entry) + waiting(*entry);
  if (entry->place != placement::kNoRow) told.terms += stepsText(cluster_, entry->place);
  if (!entry->trouble.empty()) {
    told.good = false;
    told.todo.push_back(fmt::format("It serves nobody: {}.", entry->trouble));
  }
  if (const auto page = placement::reservationPage(cluster_, "reservations/" + std::string(name)))
    told.data = page->get_object();
  told.data["phase"] = entry->object->status.phase;
  return told;
}

}  // namespace mangrove::cli
