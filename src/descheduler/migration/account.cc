#include "descheduler/migration/account.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "api/koordinator/pod_stalls.h"
#include "api/pod/classes.h"
#include "base/text/time_text.h"
#include "descheduler/load/node_load.h"
#include "descheduler/names.h"
#include "json/value.h"

namespace mangrove::descheduler {
namespace {

constexpr double kWaitsSlack = 5;      // points
constexpr double kLatencySlack = 0.1;  // of what it was

double tenth(double value) {
  return std::round(value * 10) / 10;
}

using Maybe = std::optional<double>;

void put(json::Object& out, std::string_view key, const Maybe& value) {
  if (value) out[key] = tenth(*value);
}

json::Object nodeJson(const NodeShares& one) {
  json::Object out{{"node", one.node}, {"cpu", tenth(one.cpu)}, {"memory", tenth(one.memory)}};
  put(out, "waits", one.waits);
  return out;
}
json::Object sidesJson(const Sides& sides) {
  json::Object out{{"source", nodeJson(sides.source)},
                   {"target", nodeJson(sides.target)},
                   {"podCores", std::round(sides.pod.cores * 1000) / 1000}};
  put(out, "podWaits", sides.pod.waits);
  put(out, "podThrottled", sides.pod.throttled);
  put(out, "podLatencyMs", sides.pod.latency);
  return out;
}

Maybe maybeAt(const json::Value& value, std::string_view key) {
  const json::Value* found = value.is_object() ? value.get_object().if_contains(key) : nullptr;
  if (found == nullptr || !found->is_number()) return std::nullopt;
  return found->to_number<double>();
}
double numberAt(const json::Value& value, std::string_view key) {
  return maybeAt(value, key).value_or(0);
}
json::Value at(const json::Value& value, std::string_view key) {
  const json::Value* found = value.is_object() ? value.get_object().if_contains(key) : nullptr;
  return found != nullptr ? *found : json::Value();
}
NodeShares nodeOf(const json::Value& value) {
  const json::Value name = at(value, "node");
  return {name.is_string() ? std::string(name.get_string()) : std::string(), numberAt(value, "cpu"),
          numberAt(value, "memory"), maybeAt(value, "waits")};
}
Sides sidesOf(const json::Value& value) {
  return {nodeOf(at(value, "source")),
          nodeOf(at(value, "target")),
          {numberAt(value, "podCores"), maybeAt(value, "podWaits"), maybeAt(value, "podThrottled"),
           maybeAt(value, "podLatencyMs")}};
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

// By more than both slacks allow; what is not known on both sides did not.
bool grew(const Maybe& before, const Maybe& after, double slack, double share) {
  return before && after && *after > *before * (1 + share) + slack;
}

// The services in the middle: one that fights its own quota says nothing about the node.
Maybe middleWait(const api::NodeMetric& metric) {
  std::vector<double> waits;
  for (const api::PodMetric& pod : metric.status.podsMetric) {
    if (pod.qos.view() == api::qosName(api::Qos::kBe)) continue;
    if (const auto stalls = api::stallsOf(pod)) waits.push_back(stalls->cpu);
  }
  if (waits.empty()) return std::nullopt;
  const auto middle = waits.begin() + static_cast<std::ptrdiff_t>(waits.size() / 2);
  std::nth_element(waits.begin(), middle, waits.end());
  return *middle;
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
  return NodeShares{node->meta.name.str(), share("cpu"), share("memory"), middleWait(*metric)};
}

PodFacts factsOf(const api::NodeMetric* metric, std::string_view ns, std::string_view pod) {
  PodFacts out;
  if (metric == nullptr) return out;
  for (const api::PodMetric& one : metric->status.podsMetric) {
    if (one.ns.view() != ns || one.name.view() != pod) continue;
    out.cores = static_cast<double>(one.podUsage.resources.cpu().v) / 1000;
    if (const auto stalls = api::stallsOf(one)) {
      out.waits = stalls->cpu;
      out.throttled = stalls->throttled;
    }
    break;
  }
  return out;
}

Maybe latencyOf(const api::Pod& pod) {
  const auto text = pod.meta.annotations.get(key::kLatency);
  if (!text) return std::nullopt;
  const auto read = parseDuration(*text);
  if (!read || *read < Duration::zero()) return std::nullopt;
  return std::chrono::duration<double, std::milli>(*read).count();
}

bool hasPaid(const Sides& before, const Sides& after) {
  const bool byCpu = before.source.cpu >= before.source.memory;
  const double then = byCpu ? before.source.cpu : before.source.memory;
  const double now = byCpu ? after.source.cpu : after.source.memory;
  const bool worse = grew(before.pod.waits, after.pod.waits, kWaitsSlack, 0) ||
                     grew(before.pod.latency, after.pod.latency, 0, kLatencySlack);
  return now < then && worst(after.target) < worst(before.source) && !worse;
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
