#include "placement/explain/debug.h"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

#include "api/wire/names.h"
#include "base/text/time_text.h"
#include "json/value.h"
#include "placement/explain/explanation.h"

namespace mangrove::placement {

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

void setUnlessEmpty(json::Object& out, std::string_view key, std::string_view text) {
  if (!text.empty()) out[std::string(key)] = text;
}

}  // namespace

std::string diagnosisLine(Cycle& cycle, Cluster& cluster, const api::Pod& pod, WallTime now) {
  json::Array details;
  for (const auto& failure : nodeFailures(cycle, cluster)) details.push_back(api::toJson(failure));
  json::Object out{{"timestamp", formatTime(now)}};
  out["questionedKey"] = questionedKeyOf(pod);
  setUnlessEmpty(out, "nominatedNode", pod.status.nominatedNodeName.view());
  setUnlessEmpty(out, "preFilterMessage", cycle.diagnosis().preFilter);
  setUnlessEmpty(out, "topologyKeyToExplain",
                 pod.meta.labels.get(api::label::kTopologyKeyToExplain).value_or(""));
  out["isRootCausePod"] = true;
  out["scheduleDiagnosis"] =
      json::Object{{"alreadyWaitForBound", 0}, {"nodeFailedDetails", std::move(details)}};
  out["preemptionDiagnosis"] = json::Value();
  if (const auto& suggestion = cycle.diagnosis().suggestion)
    out["suggestion"] = json::Object{{"type", suggestion->type}, {"message", suggestion->message}};
  return json::write(out);
}

}  // namespace mangrove::placement
