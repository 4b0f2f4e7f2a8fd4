#include "placement/plugins/reservation/page.h"

#include <algorithm>
#include <vector>

#include "base/text/time_text.h"
#include "placement/plugins/reservation/status.h"

namespace mangrove::placement {
namespace {

json::Array ownersOf(const ReservationEntry& entry) {
  json::Array out;
  for (const auto& [uid, owner] : entry.owners)
    out.push_back(json::Object{{"namespace", owner.pod->pod->meta.ns.view()},
                               {"name", owner.pod->pod->meta.name.view()},
                               {"uid", uid.str()},
                               {"bound", owner.confirmed}});
  return out;
}

json::Value describe(const ReservationEntry& entry, const Cluster& cluster) {
  const std::string node = entry.place == kNoRow ? "" : cluster.table.info(entry.place).name.str();
  const bool begins = entry.beginning.start != kZeroTime;
  return json::Object{{"start", begins ? json::Value(formatTime(entry.beginning.start)) : nullptr},
                      {"waits", entry.waits},
                      {"name", entry.name},
                      {"uid", entry.uid.str()},
                      {"node", node},
                      {"isPod", entry.isPod},
                      {"open", entry.isOpen()},
                      {"trouble", entry.trouble},
                      {"allocatable", quantitiesOf(entry.room.allocatable).toJson()},
                      {"allocated", quantitiesOf(entry.room.allocated).toJson()},
                      {"held", quantitiesOf(entry.held()).toJson()},
                      {"owners", ownersOf(entry)}};
}

// What is taken on the node from each time on.
json::Array stepsPage(const Cluster& cluster, Row row) {
  const auto tenures = cluster.reservations.tenures(row);
  json::Array out;
  for (const TimeStep& step : stepsOf(tenures, cluster.reservations.time()))
    out.push_back(json::Object{{"from", formatTime(step.at)},
                               {"taken", quantitiesOf(step.taken).toJson()},
                               {"comes", json::Array(step.comes.begin(), step.comes.end())},
                               {"goes", json::Array(step.goes.begin(), step.goes.end())}});
  return out;
}

template <class Is>
json::Value listOf(const Cluster& cluster, Is is) {
  std::vector<ReservationPtr> found;
  cluster.reservations.each([&](const ReservationPtr& entry) {
    if (is(*entry)) found.push_back(entry);
  });
  std::ranges::sort(found, {}, [](const ReservationPtr& entry) { return entry->name; });
  json::Array items;
  for (const ReservationPtr& entry : found) items.push_back(describe(*entry, cluster));
  return json::Object{{"items", std::move(items)}};
}

}  // namespace

std::optional<json::Value> reservationPage(const Cluster& cluster, std::string_view path) {
  constexpr std::string_view kNodes = "nodes/", kOne = "reservations/";
  if (path == "reservations") return listOf(cluster, [](const ReservationEntry&) { return true; });
  if (path.starts_with(kOne)) {
    const ReservationPtr entry = cluster.reservations.findByName(path.substr(kOne.size()));
    return entry ? std::optional(describe(*entry, cluster)) : std::nullopt;
  }
  if (!path.starts_with(kNodes)) return std::nullopt;
  const Row row = cluster.table.find(path.substr(kNodes.size()));
  if (row == kNoRow) return std::nullopt;
  json::Value out =
      listOf(cluster, [&](const ReservationEntry& entry) { return entry.place == row; });
  out.get_object()["steps"] = stepsPage(cluster, row);
  return out;
}

}  // namespace mangrove::placement
