#include "scheduler/core/debug.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include <fmt/core.h>

#include "api/names.h"
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

namespace {

// By plugin, reason and whether preemption might help: names of nodes, in order.
using Failures = std::map<std::tuple<std::string, std::string, bool>, std::vector<std::string>>;

Failures failuresOf(Cycle& cycle, Cluster& cluster) {
  Failures out;
  const auto name = [&](Row row) { return cluster.table.info(row).name.str(); };
  const Diagnosis& diagnosis = cycle.diagnosis();
  // Refused as a whole: the same for all.
  if (!diagnosis.preFilter.empty()) {
    for (const auto& group : diagnosis.groups)
      for (Row row : cluster.table.liveRows())
        out[{group.plugin, group.reason, group.preemptMightHelp}].push_back(name(row));
  } else {
    for (const auto& [row, refusal] : cycle.refusals())
      out[{refusal.plugin, refusal.reason, refusal.preemptMightHelp}].push_back(name(row));
  }
  for (auto& [key, names] : out) std::sort(names.begin(), names.end());
  return out;
}

void setUnlessEmpty(json::Object& out, std::string_view key, std::string_view text) {
  if (!text.empty()) out[std::string(key)] = text;
}

}  // namespace

std::string diagnosisLine(Cycle& cycle, Cluster& cluster, const api::Pod& pod, WallTime now) {
  json::Array details;
  for (auto& [key, names] : failuresOf(cycle, cluster)) {
    json::Array nodes(names.begin(), names.end());
    details.push_back(json::Object{{"failedPlugin", std::get<0>(key)},
                                   {"reason", std::get<1>(key)},
                                   {"preemptMightHelp", std::get<2>(key)},
                                   {"failedNodes", std::move(nodes)}});
  }
  const std::string own = pod.meta.ns.str() + "/" + pod.meta.name.str();
  json::Object out{{"timestamp", formatTime(now)}};
  out["questionedKey"] = pod.meta.labels.get(api::label::kQuestionedObjectKey).value_or(own);
  setUnlessEmpty(out, "nominatedNode", pod.status.nominatedNodeName.view());
  setUnlessEmpty(out, "preFilterMessage", cycle.diagnosis().preFilter);
  setUnlessEmpty(out, "topologyKeyToExplain",
                 pod.meta.labels.get(api::label::kTopologyKeyToExplain).value_or(""));
  out["isRootCausePod"] = true;
  out["scheduleDiagnosis"] =
      json::Object{{"alreadyWaitForBound", 0}, {"nodeFailedDetails", std::move(details)}};
  out["preemptionDiagnosis"] = json::Value();
  return json::write(out);
}

}  // namespace mangrove::scheduler
