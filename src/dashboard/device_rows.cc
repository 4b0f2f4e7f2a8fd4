#include "dashboard/device_rows.h"

#include <algorithm>

#include "api/wire/measured_names.h"
#include "api/wire/names.h"
#include "dashboard/device_books.h"
#include "placement/device/request.h"

namespace mangrove::dashboard {
namespace {

using placement::Card;
using placement::DeviceBook;

// What the node's agent says of a card beside its shares.
struct Told {
  const api::Device* device = nullptr;      // null: the object is gone
  const api::NodeMetric* metric = nullptr;  // null: nothing was measured
};

std::string whyIll(const Told& told, std::string_view type, int32_t minor) {
  if (!told.device) return "the node reports no devices any more";
  for (const api::DeviceInfo& info : told.device->spec.devices) {
    if (info.type.view() != type || info.minor.value_or(0) != minor || info.health) continue;
    const auto* healthy = api::findCondition(info.conditions, "Healthy");
    return healthy ? std::string(healthy->message.view()) : std::string();
  }
  return "";
}

// What was measured of the card under that name; null: nothing.
json::Value measured(const Told& told, std::string_view type, int32_t minor,
                     std::string_view what) {
  if (!told.metric || !told.metric->status.nodeMetric) return nullptr;
  for (const api::DeviceInfo& info : told.metric->status.nodeMetric->nodeUsage.devices) {
    if (info.type.view() != type || info.minor.value_or(0) != minor) continue;
    if (const Quantity* amount = info.resources.find(what)) return amount->approximate();
  }
  return nullptr;
}

json::Array holdersOf(const DeviceLibrary& books, const DeviceBook& book, const std::string& type,
                      const Card& card) {
  json::Array out;
  const Interned main = mainResource(type);
  for (const api::Uid& uid : book.holdersOf(type, card.minor)) {
    int64_t share = 0;
    for (const placement::HeldCard& held : *book.find(uid))
      if (held.type == type && held.minor == card.minor)
        share = std::max(held.amounts.amount(main),
                         held.amounts.amount(placement::deviceNames().ratio));
    out.push_back(json::Object{{"pod", books.nameOf(uid)}, {"share", share}});
  }
  return out;
}

std::string overOf(const DeviceBook& book, const std::string& type, int32_t minor) {
  for (const placement::DeviceQuarrel& one : book.quarrels())
    if (one.type == type && one.minor == minor) return one.over;
  return "";
}

json::Object cardRow(const DeviceLibrary& books, const DeviceBook& book, const std::string& type,
                     const Card& card, const Told& told) {
  const placement::DeviceNames& names = placement::deviceNames();
  const Interned main = mainResource(type);
  json::Object out{{"type", type},
                   {"minor", card.minor},
                   {"id", card.id},
                   {"health", healthWord(card)},
                   {"why", whyIll(told, type, card.minor)},
                   {"used", std::max(card.used.amount(main), card.used.amount(names.ratio))},
                   {"total", card.total.amount(main)},
                   {"memoryUsed", card.used.amount(names.memory)},
                   {"memoryTotal", card.total.amount(names.memory)},
                   {"busy", measured(told, type, card.minor, api::resource::kGpuCore)},
                   {"celsius", measured(told, type, card.minor, api::resource::kGpuCelsius)},
                   {"holders", holdersOf(books, book, type, card)},
                   {"over", overOf(book, type, card.minor)},
                   {"numa", nullptr},
                   {"pcie", ""}};
  if (!card.topology) return out;
  out["numa"] = card.topology->nodeId;
  out["pcie"] = card.topology->pcieId;
  return out;
}

}  // namespace

json::Object deviceBoard(const ClusterView& view, const DeviceObjects& devices) {
  DeviceLibrary books;
  std::map<std::string, Told> told;
  for (const auto& node : view.nodes) books.node(*node);
  for (const auto& device : devices) {
    told[device->meta.name.str()].device = device.get();
    (void)books.device(*device);  // a table that cannot be read leaves the cards out; `top` says so
  }
  for (const auto& [name, metric] : view.metrics) told[name].metric = metric.get();
  for (const auto& pod : view.pods) books.pod(*pod);
  json::Array nodes;
  for (const auto& [name, book] : books.all()) {
    json::Array cards;
    const Told& about = told[name];
    for (const auto& [type, list] : book.devices().byType)
      for (const Card& card : list) cards.push_back(cardRow(books, book, type, card, about));
    const auto model = about.device ? about.device->meta.labels.get(api::label::kGpuModel)
                                    : std::optional<std::string_view>();
    nodes.push_back(
        json::Object{{"name", name}, {"model", model.value_or("")}, {"cards", std::move(cards)}});
  }
  return {{"nodes", std::move(nodes)}};
}

}  // namespace mangrove::dashboard
