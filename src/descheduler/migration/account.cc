#include "descheduler/migration/account.h"

#include <algorithm>
#include <cmath>

#include "descheduler/load/node_load.h"
#include "json/value.h"

namespace mangrove::descheduler {
namespace {

double tenth(double value) {
  return std::round(value * 10) / 10;
}

json::Object nodeJson(const NodeShares& one) {
  return {{"node", one.node}, {"cpu", tenth(one.cpu)}, {"memory", tenth(one.memory)}};
}
json::Object sidesJson(const Sides& sides) {
  return {{"source", nodeJson(sides.source)},
          {"target", nodeJson(sides.target)},
          {"podCores", std::round(sides.podCores * 1000) / 1000}};
}

double numberAt(const json::Value& value, std::string_view key) {
  const json::Value* found = value.is_object() ? value.get_object().if_contains(key) : nullptr;
  return found != nullptr && found->is_number() ? found->to_number<double>() : 0;
}
json::Value at(const json::Value& value, std::string_view key) {
  const json::Value* found = value.is_object() ? value.get_object().if_contains(key) : nullptr;
  return found != nullptr ? *found : json::Value();
}
NodeShares nodeOf(const json::Value& value) {
  const json::Value name = at(value, "node");
  return {name.is_string() ? std::string(name.get_string()) : std::string(), numberAt(value, "cpu"),
          numberAt(value, "memory")};
}
Sides sidesOf(const json::Value& value) {
  return {nodeOf(at(value, "source")), nodeOf(at(value, "target")), numberAt(value, "podCores")};
}

// status.status, reason and message go on telling of the move itself.
api::ProbedCondition& conditionIn(api::PodMigrationJobStatus& status) {
  auto found = std::find_if(status.conditions.begin(), status.conditions.end(),
                            [](const auto& one) { return one.type == kAccount; });
  if (found == status.conditions.end()) {
    found = status.conditions.insert(found, api::ProbedCondition{});
    found->type = kAccount;
  }
  return *found;
}

void write(api::PodMigrationJobStatus& status, std::string_view truth, std::string_view reason,
           const json::Object& account, WallTime now) {
  api::ProbedCondition& condition = conditionIn(status);
  condition.status = truth;
  condition.reason = reason;
  condition.message = json::write(account);
  condition.lastTransitionTime = condition.lastProbeTime = now;
}

double worst(const NodeShares& one) {
  return std::max(one.cpu, one.memory);
}

}  // namespace

std::optional<NodeShares> sharesOf(const api::Node* node, const api::NodeMetric* metric,
                                   WallTime since) {
  if (node == nullptr || metric == nullptr || !metric->status.nodeMetric) return std::nullopt;
  if (metric->status.updateTime < since) return std::nullopt;
  const Scale scale({"cpu", "memory"});
  Loads usage = scale.of(metric->status.nodeMetric->systemUsage.resources);
  for (const api::PodMetric& pod : metric->status.podsMetric)
    add(usage, scale.of(pod.podUsage.resources));
  const Loads capacity = scale.of(realAllocatable(*node));
  const auto share = [&](std::string_view resource) {
    const size_t i = *scale.indexOf(resource);
    return capacity[i] <= 0
               ? 0
               : 100.0 * static_cast<double>(usage[i]) / static_cast<double>(capacity[i]);
  };
  return NodeShares{node->meta.name.str(), share("cpu"), share("memory")};
}

double coresOf(const api::NodeMetric* metric, std::string_view ns, std::string_view pod) {
  if (metric == nullptr) return 0;
  const Scale scale({"cpu"});
  for (const api::PodMetric& one : metric->status.podsMetric) {
    if (one.ns.view() != ns || one.name.view() != pod) continue;
    const size_t cpu = *scale.indexOf("cpu");
    return static_cast<double>(scale.plain(cpu, scale.of(one.podUsage.resources)[cpu])) / 1000;
  }
  return 0;
}

bool hasPaid(const Sides& before, const Sides& after) {
  const bool byCpu = before.source.cpu >= before.source.memory;
  const double then = byCpu ? before.source.cpu : before.source.memory;
  const double now = byCpu ? after.source.cpu : after.source.memory;
  return now < then && worst(after.target) < worst(before.source);
}

void openAccount(api::PodMigrationJobStatus& status, const Sides& before, WallTime now) {
  write(status, "Unknown", "Open", {{"before", sidesJson(before)}}, now);
}

void closeAccount(api::PodMigrationJobStatus& status, const Sides& after, WallTime now) {
  const auto open = accountOf(status);
  if (!open) return;
  const bool paid = hasPaid(open->before, after);
  write(status, paid ? "True" : "False", paid ? "Paid" : "DidNotPay",
        {{"before", sidesJson(open->before)}, {"after", sidesJson(after)}}, now);
}

std::optional<Account> accountOf(const api::PodMigrationJobStatus& status) {
  for (const api::ProbedCondition& one : status.conditions) {
    if (one.type != kAccount) continue;
    const auto text = json::parse(one.message);
    if (!text) return std::nullopt;
    Account out;
    out.before = sidesOf(at(*text, "before"));
    if (const json::Value after = at(*text, "after"); after.is_object()) out.after = sidesOf(after);
    out.paid = one.status == "True";
    return out;
  }
  return std::nullopt;
}

}  // namespace mangrove::descheduler
