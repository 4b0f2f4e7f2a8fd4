#include "scheduler/core/debug.h"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

#include "base/time_text.h"
#include "json/value.h"

namespace mangrove::scheduler {

std::string scoreTable(Cycle& cycle, Cluster& cluster, size_t top) {
  cycle.state().refresh();
  const auto rows = cycle.feasibleRows();
  const auto scores = cycle.breakdown(rows);
  std::vector<int64_t> totals(rows.size());
  for (const auto& one : scores)
    for (size_t i = 0; i < rows.size(); i++) totals[i] += one.weight * one.scores[i];
  std::vector<size_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return totals[a] > totals[b]; });
  if (order.size() > top) order.resize(top);
  std::string head = "| # | Node | Score", line = "| --- | --- | ---";
  for (const auto& one : scores) {
    head += fmt::format(" | {}", one.plugin);
    line += " | ---";
  }
  std::string out = head + " |\n" + line + " |\n";
  for (size_t place = 0; place < order.size(); place++) {
    const size_t i = order[place];
    out += fmt::format("| {} | {} | {}", place, cluster.table.info(rows[i]).name.view(), totals[i]);
    for (const auto& one : scores) out += fmt::format(" | {}", one.weight * one.scores[i]);
    out += " |\n";
  }
  return out;
}

std::string diagnosisLine(const Diagnosis& diagnosis, std::string_view pod, WallTime now) {
  json::Array details;
  for (const auto& group : diagnosis.groups)
    details.push_back(json::Object{{"failedPlugin", group.plugin},
                                   {"reason", group.reason},
                                   {"preemptMightHelp", group.preemptMightHelp},
                                   {"failedNodes", group.nodes}});
  return json::write(
      json::Object{{"timestamp", formatTime(now)},
                   {"questionedKey", pod},
                   {"preFilterMessage", diagnosis.preFilter},
                   {"scheduleDiagnosis", json::Object{{"nodeFailedDetails", std::move(details)}}}});
}

}  // namespace mangrove::scheduler
