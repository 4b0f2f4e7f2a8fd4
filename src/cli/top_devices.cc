#include "cli/top_devices.h"

#include <functional>

#include <fmt/core.h>

#include "api/object/node.h"
#include "api/pod/pod.h"
#include "api/wire/decode.h"
#include "api/wire/kind.h"
#include "api/wire/names.h"
#include "base/text/strings.h"
#include "cli/voice.h"
#include "dashboard/device_books.h"
#include "json/value.h"
#include "placement/device/request.h"

namespace mangrove::cli {
namespace {

using placement::Card;
using placement::DeviceBook;

template <class T>
Result<> eachOf(client::ApiClient& client, const api::Kind& kind,
                const std::function<void(const T&)>& use) {
  client::Query query;
  query.limit = 500;
  do {
    auto page = client.list(kind, "", query);
    if (!page && page.error().code() == Code::kNotFound) return {};
    if (!page) return pass(page.error());
    for (std::string_view item : page->items)
      if (const auto object = api::decodeText<T>(item)) use(*object);
    query.continueToken = page->continueToken;
  } while (!query.continueToken.empty());
  return {};
}

// "50/100": used of what there is, in the resource's own unit.
std::string usedOf(const Card& card, Interned name) {
  if (!card.total.has(name) && !card.used.has(name)) return "-";
  return fmt::format("{}/{}", placement::quantityOf(name, card.used.amount(name)).text(),
                     placement::quantityOf(name, card.total.amount(name)).text());
}

CardLine lineOf(const dashboard::DeviceLibrary& books, const std::string& node,
                const DeviceBook& book, const std::string& type, const Card& card) {
  CardLine out;
  out.node = node;
  out.type = type;
  out.minor = card.minor;
  out.id = card.id;
  out.health = dashboard::healthWord(card);
  out.core = usedOf(card, dashboard::mainResource(type));
  out.memory = usedOf(card, placement::deviceNames().memory);
  if (card.topology)
    out.place = fmt::format("numa {} pcie {}", card.topology->nodeId, card.topology->pcieId);
  for (const api::Uid& uid : book.holdersOf(type, card.minor))
    out.holders.push_back(books.nameOf(uid));
  return out;
}

}  // namespace

Result<std::vector<CardLine>> readCards(client::ApiClient& client) {
  dashboard::DeviceLibrary books;
  auto ok =
      eachOf<api::Node>(client, api::kind::kNode, [&](const api::Node& node) { books.node(node); });
  if (!ok) return pass(ok.error());
  std::optional<Error> trouble;
  ok = eachOf<api::Device>(client, api::kind::kDevice, [&](const api::Device& device) {
    if (auto read = books.device(device); !read) trouble = read.error();
  });
  if (!ok) return pass(ok.error());
  if (trouble) return pass(*trouble);
  ok = eachOf<api::Pod>(client, api::kind::kPod, [&](const api::Pod& pod) { books.pod(pod); });
  if (!ok) return pass(ok.error());
  std::vector<CardLine> out;
  for (const auto& [node, book] : books.all())
    for (const auto& [type, cards] : book.devices().byType)
      for (const Card& card : cards) out.push_back(lineOf(books, node, book, type, card));
  return out;
}

std::string cardTable(const std::vector<CardLine>& cards) {
  if (cards.empty()) return "no Device object names a card\n";
  std::vector<std::vector<std::string>> rows{
      {"NODE", "TYPE", "MINOR", "HEALTH", "USED", "MEMORY", "PLACE", "PODS"}};
  for (const CardLine& one : cards)
    rows.push_back({one.node, one.type, std::to_string(one.minor), one.health, one.core, one.memory,
                    one.place.empty() ? "-" : one.place,
                    one.holders.empty() ? "-" : join(one.holders, " ")});
  return tableText(rows);
}

std::string cardJson(const std::vector<CardLine>& cards) {
  json::Array out;
  for (const CardLine& one : cards) {
    json::Array holders;
    for (const std::string& name : one.holders) holders.emplace_back(name);
    out.push_back(json::Object{{"node", one.node},
                               {"type", one.type},
                               {"minor", one.minor},
                               {"id", one.id},
                               {"health", one.health},
                               {"used", one.core},
                               {"memory", one.memory},
                               {"place", one.place},
                               {"pods", holders}});
  }
  return json::writePretty(json::Object{{"devices", out}});
}

}  // namespace mangrove::cli
