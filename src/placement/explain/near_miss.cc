#include "placement/explain/near_miss.h"

#include <algorithm>

#include <fmt/core.h>

namespace mangrove::placement {

namespace {

std::string amountText(Interned resource, int64_t amount) {
  if (resource == "cpu") return Quantity::ofMilli(amount).text();
  return (resource == "memory" ? Quantity::of(Bytes{amount}) : Quantity::of(amount)).text();
}

// Whether everything but room is right on the row.
bool allowedButForRoom(const Layout& layout, PlanState& state, const NodeTable& table, Row row) {
  if (table.podCount()[row] + 1 > table.podLimit()[row]) return false;
  for (const auto& filter : layout.filters) {
    Verdict verdict;
    if (filter.plugin->name() == "NodeResourcesFit") continue;
    if (filter.local && filter.local->filters(state.plan()))
      filter.local->fits(state.plan(), table, std::span<const Row>(&row, 1), &verdict);
    for (const auto& part : state.parts())
      if (part.plugin == filter.plugin && part.ready.filters) verdict = part.part->verdict(row);
    if (!verdict.fits()) return false;
  }
  return true;
}

int64_t leftOf(const NodeTable& table, ResourceId id, Row row) {
  return table.allocatable(id)[row] - table.requested(id)[row];
}

// By how much the request exceeds what is left on each node where nothing else is missing.
std::vector<int64_t> gapsOf(const Layout& layout, PlanState& state, const NodeTable& table,
                            const Request& request) {
  std::vector<int64_t> out;
  const auto& all = state.cls().requests.all;
  for (Row row : table.liveRows()) {
    const int64_t left = leftOf(table, request.id, row);
    if (left <= 0 || left >= request.amount) continue;
    const bool others = std::all_of(all.begin(), all.end(), [&](const Request& other) {
      return other.id == request.id || other.amount <= leftOf(table, other.id, row);
    });
    if (others && allowedButForRoom(layout, state, table, row))
      out.push_back(request.amount - left);
  }
  return out;
}

// Rows where nothing but room can be missing.
std::vector<Row> allowedRows(const Layout& layout, PlanState& state, const NodeTable& table) {
  std::vector<Row> out;
  for (Row row : table.liveRows())
    if (allowedButForRoom(layout, state, table, row)) out.push_back(row);
  return out;
}

// How many fit on these rows when each asks for `amount` of that one resource.
int64_t slotsWith(const std::vector<Row>& rows, const PlanState& state, const NodeTable& table,
                  ResourceId id, int64_t amount) {
  int64_t sum = 0;
  for (Row row : rows) {
    int64_t slots = table.podLimit()[row] - table.podCount()[row];
    for (const Request& request : state.cls().requests.all)
      slots = std::min(
          slots, leftOf(table, request.id, row) / (request.id == id ? amount : request.amount));
    sum += std::max<int64_t>(slots, 0);
  }
  return sum;
}

// The most that all of them could ask for; 0: not even one of it would do.
int64_t mostFor(const std::vector<Row>& rows, const PlanState& state, const NodeTable& table,
                const Request& request, int64_t members) {
  int64_t good = 0, bad = request.amount;
  while (bad - good > 1) {
    const int64_t middle = good + (bad - good) / 2;
    (slotsWith(rows, state, table, request.id, middle) >= members ? good : bad) = middle;
  }
  return good;
}

}  // namespace

// The smallest reduction of one request that would open a node.
std::string nearestMiss(const Layout& layout, const NodeTable& table, PlanState& state) {
  std::string best;
  double bestShare = 2;
  for (const Request& request : state.cls().requests.all) {
    const auto gaps = gapsOf(layout, state, table, request);
    if (gaps.empty()) continue;
    const int64_t least = *std::min_element(gaps.begin(), gaps.end());
    const double share = static_cast<double>(least) / static_cast<double>(request.amount);
    if (share >= bestShare) continue;
    bestShare = share;
    const auto nodes = std::count(gaps.begin(), gaps.end(), least);
    const Interned name = table.resources().name(request.id);
    best = fmt::format("would fit on {} {} with {} less {}", nodes, nodes == 1 ? "node" : "nodes",
                       amountText(name, least), name.view());
  }
  return best;
}

std::string smallerMembers(const Layout& layout, const NodeTable& table, PlanState& state,
                           int64_t members) {
  state.attachParts();
  const auto rows = allowedRows(layout, state, table);
  std::string best;
  double bestShare = 2;
  for (const Request& request : state.cls().requests.all) {
    const int64_t most = mostFor(rows, state, table, request, members);
    const double share =
        static_cast<double>(request.amount - most) / static_cast<double>(request.amount);
    if (most == 0 || share >= bestShare) continue;
    bestShare = share;
    const Interned name = table.resources().name(request.id);
    best = fmt::format("{} less {}", amountText(name, request.amount - most), name.view());
  }
  return best;
}

}  // namespace mangrove::placement
