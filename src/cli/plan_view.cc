#include "cli/plan_view.h"

#include <algorithm>

#include <fmt/format.h>

#include "descheduler/plan/balance_sheet.h"

namespace mangrove::cli {
namespace {

using mangrove::descheduler::Journal;
using mangrove::descheduler::NodeBalance;
using mangrove::descheduler::PlannedMove;

constexpr size_t kShown = 20;

std::string movesTable(const std::vector<PlannedMove>& moves) {
  std::vector<std::vector<std::string>> rows{{"POD", "FROM", "TO", "BASIS", "PLUGIN", "WHY"}};
  for (const PlannedMove& one : moves)
    rows.push_back(
        {one.pod, one.from, one.to.empty() ? "?" : one.to, one.basis, one.plugin, one.reason});
  return tableText(rows);
}

std::string change(bool known, double before, double after) {
  return known ? fmt::format("{:.1f} % -> {:.1f} %", before, after) : std::string("not measured");
}

std::string nodesTable(const std::vector<NodeBalance>& nodes) {
  std::vector<std::vector<std::string>> rows{{"NODE", "CPU", "MEMORY", "PODS"}};
  for (const NodeBalance& one : nodes)
    rows.push_back({one.node, change(one.measured, one.before.cpu, one.after.cpu),
                    change(one.measured, one.before.memory, one.after.memory),
                    fmt::format("{} -> {}", one.before.pods, one.after.pods)});
  return tableText(rows);
}

std::string refusedText(const Journal& journal) {
  if (journal.refused().empty()) return "";
  std::string out = "\nAsked about, and they stay:\n";
  size_t shown = 0;
  for (const auto& [pod, why] : journal.refused()) {
    if (shown++ == kShown) break;
    out += fmt::format("  {}: {}\n", pod, why);
  }
  if (journal.refused().size() > kShown)
    out += fmt::format("  and {} more\n", journal.refused().size() - kShown);
  return out;
}

json::Object loadOf(const NodeBalance::Load& load) {
  return {{"cpuPercent", load.cpu}, {"memoryPercent", load.memory}, {"pods", load.pods}};
}

json::Object dataOf(const std::vector<NodeBalance>& nodes, const Journal& journal) {
  json::Array moves, balance;
  for (const PlannedMove& one : journal.moves())
    moves.push_back(json::Object{{"pod", one.pod},
                                 {"from", one.from},
                                 {"to", one.to},
                                 {"basis", one.basis},
                                 {"plugin", one.plugin},
                                 {"reason", one.reason}});
  for (const NodeBalance& one : nodes)
    balance.push_back(json::Object{{"node", one.node},
                                   {"measured", one.measured},
                                   {"before", loadOf(one.before)},
                                   {"after", loadOf(one.after)}});
  json::Object refused;
  for (const auto& [pod, why] : journal.refused()) refused[pod] = why;
  return {{"moves", std::move(moves)},
          {"needed", journal.needed()},
          {"nodes", std::move(balance)},
          {"refused", std::move(refused)}};
}

// Room is made for whom nobody looks twice at.
std::string_view supposed(const std::vector<PlannedMove>& moves) {
  const bool load = std::any_of(moves.begin(), moves.end(),
                                [](const PlannedMove& one) { return one.plugin == "LowNodeLoad"; });
  return load ? ", as if every hot node had been hot for long enough" : "";
}

}  // namespace

Told tellPlan(const mangrove::descheduler::Look& look, const Journal& journal,
              const std::vector<Error>& errors) {
  const auto& moves = journal.moves();
  const std::vector<NodeBalance> nodes = balanceOf(look, moves);
  Told told;
  told.good = errors.empty();
  told.answer = moves.empty() ? std::string("nothing would be moved now")
                              : fmt::format("{} pod{} would be moved now{}", moves.size(),
                                            moves.size() == 1 ? "" : "s", supposed(moves));
  if (journal.needed() > 0)
    told.answer += fmt::format("; at least {} are needed", journal.needed());
  if (!moves.empty()) told.terms = movesTable(moves) + "\n" + nodesTable(nodes);
  told.terms += refusedText(journal);
  for (const Error& error : errors) told.todo.push_back(error.text() + ".");
  told.data = dataOf(nodes, journal);
  return told;
}

}  // namespace mangrove::cli
