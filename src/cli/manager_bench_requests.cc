#include "cli/manager_bench_requests.h"

#include <fmt/format.h>

#include "api/koordinator/node_metric.h"
#include "api/wire/names.h"
#include "base/text/time_text.h"
#include "client/bench/api/objects.h"
#include "json/value.h"
#include "manager/controllers/nodemetric/controller.h"
#include "manager/controllers/noderesource/batch_resource.h"

namespace mangrove::cli {

namespace kind = client::kind;
using client::Request;

Request create(client::Kind kind, std::string ns, const json::Value& body) {
  Request out;
  out.verb = client::Verb::kCreate;
  out.ref = {kind, std::move(ns), "", ""};
  out.body = json::write(body);
  return out;
}

std::string usageText(int64_t milli, int64_t mebibytes) {
  return fmt::format(R"({{"resources":{{"cpu":"{}m","memory":"{}Mi"}}}})", milli, mebibytes);
}

// A report as agents send it; the services of node i use i % 8 × 100 m per pod more than the least.
std::string metricStatus(int64_t index, int64_t pods, WallTime now) {
  std::string list;
  for (int64_t p = 0; p < pods; p++)
    list += fmt::format(
        R"({}{{"name":"shop-{}-{}","namespace":"default","priority":"koord-prod","qos":"LS","podUsage":{}}})",
        p ? "," : "", index, p, usageText(200 + index % 8 * 100, 512));
  return fmt::format(
      R"({{"status":{{"updateTime":"{}","nodeMetric":{{"nodeUsage":{},"systemUsage":{}}},"podsMetric":[{}],"prodReclaimableMetric":{{"resource":{}}}}}}})",
      formatTime(now), usageText(12000, 20000), usageText(1000, 2048), list, usageText(500, 1024));
}

Request reportMetric(int64_t index, int64_t pods, WallTime now) {
  return client::patchRequest({kind::kNodeMetric, "", client::benchNodeName(index), "status"},
                              client::PatchType::kMerge, metricStatus(index, pods, now));
}

Request createMetric(int64_t index) {
  const manager::SloConfig nothing;  // named: gcc 12 at -O2 takes a temporary for uninitialised
  const auto config = manager::loadConfig(nothing, nullptr);
  return create(kind::kNodeMetric, "",
                json::Object{{"apiVersion", kind::kNodeMetric.apiVersion()},
                             {"kind", "NodeMetric"},
                             {"metadata", {{"name", client::benchNodeName(index)}}},
                             {"spec", toJson(manager::metricSpecFor(config.state, {}))}});
}

Request rawPatch(int64_t index) {
  const auto amounts = fmt::format(
      R"({{"example.com/a":"{0}","example.com/b":"{0}","example.com/c":"{0}","example.com/d":"{0}"}})",
      index + 1);
  return client::patchRequest(
      {kind::kNode, "", client::benchNodeName(index), "status"}, client::PatchType::kMerge,
      fmt::format(
          R"({{"metadata":{{"annotations":{{"example.com/raw":"{0}{0}{0}{0}"}}}},"status":{{"capacity":{1},"allocatable":{1}}}}})",
          index + 1000000, amounts));
}

Request undoRawPatch(int64_t index) {
  constexpr std::string_view kNothing =
      R"({"example.com/a":null,"example.com/b":null,"example.com/c":null,"example.com/d":null})";
  return client::patchRequest(
      {kind::kNode, "", client::benchNodeName(index), "status"}, client::PatchType::kMerge,
      fmt::format(
          R"({{"metadata":{{"annotations":{{"example.com/raw":null}}}},"status":{{"capacity":{0},"allocatable":{0}}}}})",
          kNothing));
}

// What the next manager finds is what the first one found, but for the NodeSLOs.
Request undoManager(int64_t index) {
  json::Object amounts;
  for (const auto name : {api::resource::kBatchCpu, api::resource::kBatchMemory,
                          api::resource::kMidCpu, api::resource::kMidMemory})
    amounts[name] = nullptr;
  const json::Object annotations{{api::annotation::kOriginExtendedAllocatable, nullptr}};
  const json::Object body{{"metadata", {{"annotations", annotations}}},
                          {"status", {{"capacity", amounts}, {"allocatable", amounts}}}};
  return client::patchRequest({kind::kNode, "", client::benchNodeName(index), "status"},
                              client::PatchType::kMerge, json::write(body));
}

// What the formula gives for the bench's node and report.
int64_t expectedMilli(int64_t index, int64_t pods) {
  const auto node = api::decodeText<api::Node>(client::createNode("x", index).body);
  const auto metric =
      api::decodeText<api::NodeMetric>(metricStatus(index, pods, WallTime{std::chrono::hours(24)}));
  const auto strategy = api::decodeText<manager::Colocation>(kBenchConfig);
  const auto facts = manager::metricFacts(metric->status);
  return manager::batchResource({*node, {}, &facts, nullptr, *strategy, facts.updateTime}).milliCpu;
}

}  // namespace mangrove::cli
