#include "placement/plugins/deviceshare/page.h"

#include <fmt/core.h>

namespace mangrove::placement {
namespace {

json::Object toJson(const Amounts& amounts) {
  json::Object out;
  for (const auto& [name, amount] : amounts) out[name.str()] = quantityOf(name, amount).text();
  return out;
}

std::string holderName(const Cluster& cluster, const api::Uid& uid) {
  const PodPtr pod = cluster.find(uid);
  if (!pod) return uid.str();
  return fmt::format("{}/{}", pod->pod->meta.ns.view(), pod->pod->meta.name.view());
}

json::Array namesOf(const Cluster& cluster, const std::vector<api::Uid>& holders) {
  json::Array out;
  for (const api::Uid& uid : holders) out.emplace_back(holderName(cluster, uid));
  return out;
}

json::Object cardJson(const Cluster& cluster, const DeviceBook& book, const std::string& type,
                      const Card& card) {
  json::Object out{{"minor", card.minor},
                   {"id", card.id},
                   {"reported", card.reported},
                   {"healthy", !card.total.empty()},
                   {"total", toJson(card.total)},
                   {"used", toJson(card.used)},
                   {"free", toJson(card.free())},
                   {"holders", namesOf(cluster, book.holdersOf(type, card.minor))}};
  if (card.topology) {
    out["numaNode"] = card.topology->nodeId;
    out["pcie"] = card.topology->pcieId;
  }
  return out;
}

json::Object summaryOf(const Cluster& cluster, const DeviceBook& book) {
  Amounts total, used, free;
  json::Object devices;
  for (const auto& [type, cards] : book.devices().byType) {
    json::Array list;
    for (const Card& card : cards) {
      list.emplace_back(cardJson(cluster, book, type, card));
      total.add(card.total);
      used.add(card.used);
      free.add(card.free());
    }
    devices[type] = std::move(list);
  }
  json::Array quarrels;
  for (const DeviceQuarrel& one : book.quarrels())
    quarrels.push_back(json::Object{{"type", one.type},
                                    {"minor", one.minor},
                                    {"over", one.over},
                                    {"holders", namesOf(cluster, one.holders)}});
  return json::Object{{"deviceTotal", toJson(total)},
                      {"deviceUsed", toJson(used)},
                      {"deviceFree", toJson(free)},
                      {"devices", std::move(devices)},
                      {"givenTwice", std::move(quarrels)}};
}

}  // namespace

std::optional<json::Value> devicePage(const Cluster& cluster, const DeviceBooks& books,
                                      std::string_view path) {
  constexpr std::string_view kAll = "nodeDeviceSummaries";
  if (!path.starts_with(kAll)) return std::nullopt;
  path.remove_prefix(kAll.size());
  if (path.empty()) {
    json::Object out;
    for (Row row : cluster.table.liveRows())
      if (const DeviceBook* book = books.find(row))
        out[cluster.table.info(row).name.str()] = summaryOf(cluster, *book);
    return out;
  }
  if (path.front() != '/') return std::nullopt;
  const Row row = cluster.table.find(path.substr(1));
  const DeviceBook* book = row == kNoRow ? nullptr : books.find(row);
  if (!book) return std::nullopt;
  return summaryOf(cluster, *book);
}

}  // namespace mangrove::placement
