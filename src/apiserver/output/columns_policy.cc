// Limits on what pods may take and how they may be disturbed: quotas, ranges, budgets, autoscalers.

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "apiserver/output/columns.h"
#include "base/text/strings.h"

namespace mangrove::apiserver {

namespace {

constexpr Column kQuotaColumns[] = {
    kName,
    {"Request", "string", "Used and allowed, of requests and counts"},
    {"Limit", "string", "Used and allowed, of limits"},
    kAge};

void quotaCells(const TableRow& row, Cells& out) {
  std::vector<std::string> requests, limits;
  for (auto [resource, hard] : row.status()["hard"].members()) {
    auto& list = resource.starts_with("limits") ? limits : requests;
    const std::string used = scalarOf(row.status()["used"][resource]);
    list.push_back(fmt::format("{}: {}/{}", resource, used.empty() ? "0" : used, scalarOf(hard)));
  }
  std::sort(requests.begin(), requests.end());
  std::sort(limits.begin(), limits.end());
  out.text(row.name());
  out.text(join(requests, ", "));
  out.text(join(limits, ", "));
  out.text(row.age());
}

constexpr Column kRangeColumns[] = {kName, kCreatedAt};

void rangeCells(const TableRow& row, Cells& out) {
  out.text(row.name());
  out.text(row.createdAt());
}

constexpr Column kBudgetColumns[] = {
    kName,
    {"Min Available", "string", "Pods that must stay"},
    {"Max Unavailable", "string", "Pods that may be missing"},
    {"Allowed Disruptions", "integer", "Pods that may be evicted now"},
    kAge};

void budgetCells(const TableRow& row, Cells& out) {
  out.text(row.name());
  out.textOr(scalarOf(row.spec()["minAvailable"]), "N/A");
  out.textOr(scalarOf(row.spec()["maxUnavailable"]), "N/A");
  out.number(intOf(row.status()["disruptionsAllowed"]));
  out.text(row.age());
}

constexpr Column kScalerColumns[] = {kName,
                                     {"Reference", "string", "What it scales"},
                                     {"Targets", "string", "Measured and wanted, of each metric"},
                                     {"MinPods", "string", "Never fewer than this"},
                                     {"MaxPods", "string", "Never more than this"},
                                     {"Replicas", "integer", "How many there are now"},
                                     kAge};

// The part of a metric that its type names: "Resource" keeps it under "resource".
json::View metricPart(json::View metric) {
  std::string member(textOf(metric["type"]));
  if (!member.empty() && member[0] >= 'A' && member[0] <= 'Z') member[0] += 'a' - 'A';
  return metric[member];
}

std::string amountText(json::View amount) {
  if (auto percent = amount["averageUtilization"].integer()) return fmt::format("{}%", *percent);
  const std::string average = scalarOf(amount["averageValue"]);
  if (!average.empty()) return average;
  const std::string value = scalarOf(amount["value"]);
  return value.empty() ? std::string(kUnknown) : value;
}

// Averages over pods are marked where the type does not say it already.
std::string targetText(json::View metric, json::View part) {
  const json::View target = part["target"];
  const std::string_view type = textOf(metric["type"]);
  const bool average = target["averageValue"].exists() && (type == "External" || type == "Object");
  return amountText(target) + (average ? " (avg)" : "");
}

std::string metricsText(const TableRow& row) {
  constexpr size_t kShown = 2;
  std::vector<std::string> texts;
  size_t index = 0;
  for (json::View metric : row.spec()["metrics"].elements()) {
    const json::View part = metricPart(metric);
    const json::View now = metricPart(row.status()["currentMetrics"].at(index++))["current"];
    const std::string_view name = textOf(part["name"]);
    std::string text = name.empty() ? "" : std::string(name) + ": ";
    texts.push_back(text + amountText(now) + "/" + targetText(metric, part));
  }
  if (texts.empty()) return std::string(kNone);
  std::string out = join(std::span(texts.data(), std::min(kShown, texts.size())), ", ");
  if (texts.size() > kShown) out += fmt::format(" + {} more...", texts.size() - kShown);
  return out;
}

void scalerCells(const TableRow& row, Cells& out) {
  const json::View target = row.spec()["scaleTargetRef"];
  const std::string least = scalarOf(row.spec()["minReplicas"]);
  out.text(row.name());
  out.text(fmt::format("{}/{}", textOf(target["kind"]), textOf(target["name"])));
  out.text(metricsText(row));
  out.textOr(least, kUnset);
  out.number(intOf(row.spec()["maxReplicas"]));
  out.number(intOf(row.status()["currentReplicas"]));
  out.text(row.age());
}

constexpr TableKind kTables[] = {
    {"", "ResourceQuota", kQuotaColumns, &quotaCells},
    {"", "LimitRange", kRangeColumns, &rangeCells},
    {"policy", "PodDisruptionBudget", kBudgetColumns, &budgetCells},
    {"autoscaling", "HorizontalPodAutoscaler", kScalerColumns, &scalerCells},
};

}  // namespace

std::span<const TableKind> policyTables() {
  return kTables;
}

}  // namespace mangrove::apiserver
