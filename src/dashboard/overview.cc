#include "dashboard/overview.h"

#include <algorithm>

namespace mangrove::dashboard {
namespace {

constexpr size_t kWaiting = 50, kTop = 10;

// A number below a path of members; 0 when it is not there.
double numberAt(const json::Value& row, std::initializer_list<std::string_view> path) {
  const json::Value* at = &row;
  for (auto step : path) {
    if (!at->is_object() || !(at = at->as_object().if_contains(step))) return 0;
  }
  return at->is_number() ? at->to_number<double>() : 0;
}

double sumOf(const json::Array& rows, std::initializer_list<std::string_view> path) {
  double sum = 0;
  for (const auto& row : rows) sum += numberAt(row, path);
  return sum;
}

bool waits(const api::Pod& pod) {
  return pod.nodeName.view().empty() && pod.status.phase == api::PodPhase::kPending;
}

int64_t millisOf(WallTime at) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(at.time_since_epoch()).count();
}

// The first `most` of the pods that `wanted` takes, in this order, as rows.
template <class Wanted, class Before>
json::Array rowsOf(const ClusterView& view, const LiveNode* live, size_t most, Wanted wanted,
                   Before before) {
  ClusterView part;
  part.metrics = view.metrics;
  std::copy_if(view.pods.begin(), view.pods.end(), std::back_inserter(part.pods), wanted);
  std::stable_sort(part.pods.begin(), part.pods.end(), before);
  if (part.pods.size() > most) part.pods.resize(most);
  json::Array rows = podRows(part, "", live);
  for (size_t i = 0; i < rows.size(); ++i)
    rows[i].as_object()["created"] = millisOf(part.pods[i]->meta.creationTimestamp);
  return rows;
}

json::Array topRows(const ClusterView& view, const LiveNode* live) {
  json::Array rows = podRows(view, "", live);
  const auto used = [](const json::Value& row) { return numberAt(row, {"cpu", "used"}); };
  const size_t most = std::min(kTop, rows.size());
  std::partial_sort(rows.begin(), rows.begin() + static_cast<ptrdiff_t>(most), rows.end(),
                    [&](const auto& a, const auto& b) { return used(a) > used(b); });
  rows.resize(most);
  return rows;
}

}  // namespace

json::Object momentOf(const json::Array& rows, WallTime at) {
  return {{"t", millisOf(at)},
          {"nodes", static_cast<int64_t>(rows.size())},
          {"capacity", sumOf(rows, {"cpu", "capacity"})},
          {"used", sumOf(rows, {"cpu", "used"})},
          {"be", sumOf(rows, {"cpu", "classes", "BE"})},
          {"sold", sumOf(rows, {"batchCpu", "total"})},
          {"asked", sumOf(rows, {"batchCpu", "asked"})},
          {"memory", sumOf(rows, {"memory", "capacity"})},
          {"memoryUsed", sumOf(rows, {"memory", "used"})}};
}

json::Object overviewOf(const ClusterView& view, const LiveNode* live) {
  const auto count = std::count_if(view.pods.begin(), view.pods.end(),
                                   [](const auto& pod) { return waits(*pod); });
  return {{"waits", static_cast<int64_t>(count)},
          {"waiting", rowsOf(
                          view, live, kWaiting, [](const auto& pod) { return waits(*pod); },
                          [](const auto& a, const auto& b) {
                            return a->meta.creationTimestamp < b->meta.creationTimestamp;
                          })},
          {"top", topRows(view, live)}};
}

void showTick(json::Array& rows, std::string_view node, const json::Object& tick) {
  for (auto& value : rows) {
    if (!value.is_object()) continue;
    json::Object& row = value.as_object();
    const json::Value* name = row.if_contains("name");
    if (!name || !name->is_string() || std::string_view(name->as_string()) != node) continue;
    double memory = 0;
    for (const auto& [key, amount] : tick.at("memory").as_object())
      memory += amount.to_number<double>();
    json::Object& cpu = row["cpu"].as_object();
    cpu["used"] = tick.at("used");
    cpu["classes"] = tick.at("cpu");
    json::Object& bytes = row["memory"].as_object();
    bytes["used"] = memory;
    bytes["classes"] = tick.at("memory");
    row["pressure"] = tick.at("psi");
    row["measured"] = tick.at("t");
  }
}

}  // namespace mangrove::dashboard
