// What a node has for sale, and how it gets onto the Node object.
#include "api/annotations/annotation.h"
#include "api/wire/write.h"
#include "json/merge_patch.h"
#include "manager/controllers/noderesource/batch_prepare.h"
#include "manager/controllers/noderesource/batch_resource.h"
#include "manager/controllers/noderesource/mid_resource.h"
#include "manager/controllers/noderesource/node_sync.h"
#include "manager/controllers/noderesource/zone_update.h"
#include "vector_runner/handlers.h"
#include "vector_runner/manager_support.h"

namespace mangrove::vectors {
namespace {

// The inputs of one calculation, owned.
struct Scene {
  api::Node node;
  std::vector<manager::PodFacts> facts;
  std::vector<const manager::PodFacts*> pods;
  std::optional<manager::MetricFacts> metric;
  std::optional<api::NodeResourceTopology> topology;
  manager::Colocation strategy;
  WallTime now{};

  manager::NodeInputs inputs() const {
    return {node,     pods, metric ? &*metric : nullptr, topology ? &*topology : nullptr,
            strategy, now};
  }
};

template <class T>
std::optional<T> optionally(const json::Object& c, std::string_view key, Report& r) {
  if (member(c, key).is_null()) return std::nullopt;
  return decoded<T>(c, key, r);
}

Scene sceneOf(const json::Object& c, Report& r) {
  Scene out;
  out.node = decoded<api::Node>(c, "node", r);
  for (const auto& pod : decoded<std::vector<api::Pod>>(c, "pods", r))
    out.facts.push_back(manager::podFacts(pod));
  for (const auto& facts : out.facts) out.pods.push_back(&facts);
  if (auto metric = optionally<api::NodeMetric>(c, "nodeMetric", r))
    out.metric = manager::metricFacts(metric->status);
  out.topology = optionally<api::NodeResourceTopology>(c, "nodeResourceTopology", r);
  out.strategy = decoded<manager::Colocation>(c, "strategy", r);
  out.now = *parseTime(text(c, "now"));
  return out;
}

std::optional<double> ratioOf(const json::Object& c) {
  const auto ratio = text(c, "cpu_normalization_ratio");
  if (ratio.empty()) return std::nullopt;
  const auto parsed = api::parseGoFloat(ratio);
  return parsed ? std::optional(*parsed) : std::nullopt;
}

// Annotations that hold JSON are compared as JSON.
json::Value unfolded(json::Value node, std::string_view key) {
  auto* meta = node.as_object().if_contains("metadata");
  auto* annotations = meta ? meta->as_object().if_contains("annotations") : nullptr;
  if (annotations == nullptr || !annotations->is_object()) return node;
  auto* value = annotations->as_object().if_contains(key);
  if (value == nullptr) return node;
  if (auto parsed = json::parse(std::string_view(value->as_string()))) *value = *parsed;
  return node;
}

void expectNode(Report& r, const json::Value& want, const json::Value& got, std::string_view key) {
  r.expectAmounts("node", unfolded(want, key), unfolded(got, key));
}

}  // namespace

void batchResource(const json::Object& c, Report& r) {
  const Scene scene = sceneOf(c, r);
  const auto got = manager::batchResource(scene.inputs());
  const auto want = objectOf(c, "expect");
  r.expect("reset", want.contains("reset"), got.reset);
  if (got.reset) return;
  r.expect("batch_cpu_milli", member(want, "batch_cpu_milli"), got.milliCpu);
  r.expect("batch_memory_bytes", member(want, "batch_memory_bytes"), got.memoryBytes);
  json::Object cpu, memory;
  for (const auto& zone : got.zones) {
    cpu[zone.zone] = zone.milliCpu;
    memory[zone.zone] = zone.memory.text();
  }
  r.expect("zone_batch_cpu_milli", member(want, "zone_batch_cpu_milli"), cpu);
  r.expectAmounts("zone_batch_memory_bytes", member(want, "zone_batch_memory_bytes"), memory);
}

void midResource(const json::Object& c, Report& r) {
  const Scene scene = sceneOf(c, r);
  const auto got = manager::midResource(scene.inputs());
  const auto want = objectOf(c, "expect");
  r.expect("reset", want.contains("reset"), got.reset);
  if (got.reset) return;
  r.expect("mid_cpu_milli", member(want, "mid_cpu_milli"), got.milliCpu);
  r.expect("mid_memory_bytes", member(want, "mid_memory_bytes"), got.memoryBytes);
}

void batchPrepare(const json::Object& c, Report& r) {
  const auto node = decoded<api::Node>(c, "node", r);
  const auto items = objectOf(c, "items");
  manager::BatchItem item;
  item.reset = member(items, "reset").is_bool() && member(items, "reset").as_bool();
  item.milliCpu = static_cast<int64_t>(number(items, "batch_cpu_milli"));
  item.memoryBytes = static_cast<int64_t>(number(items, "batch_memory_bytes"));
  item.ratio = ratioOf(items);
  manager::NodeWish wish;
  const auto ok = manager::prepareBatch(node, item, wish);
  const auto want = objectOf(c, "expect");
  r.expect("error", member(want, "error"), !ok);
  json::Value after = member(c, "node");
  json::applyMergePatch(after, manager::patchOf(node, wish));
  expectNode(r, member(want, "node"), after, api::annotation::kOriginExtendedAllocatable);
}

void batchZoneUpdate(const json::Object& c, Report& r) {
  auto zones = decoded<std::vector<api::Zone>>(c, "zones", r);
  std::vector<manager::ZoneAmount> amounts;
  for (const auto& [zone, result] : objectOf(c, "zoneResults")) {
    const auto& o = result.as_object();
    const auto& memory = member(o, "batch_memory_bytes");
    const auto memoryText =
        memory.is_string() ? std::string(memory.as_string()) : json::write(memory);
    amounts.push_back({std::string(zone), static_cast<int64_t>(number(o, "batch_cpu_milli")),
                       *Quantity::parse(memoryText)});
  }
  const bool changed =
      manager::updateZones(zones, amounts, number(c, "resourceDiffThreshold"), ratioOf(c));
  const auto want = objectOf(c, "expect");
  r.expect("changed", member(want, "changed"), changed);
  r.expectAmounts("zones", member(want, "zones"), api::toJson(zones));
}

void nodeSync(const json::Object& c, Report& r) {
  const auto before = decoded<api::Node>(c, "oldNode", r);
  const auto after = decoded<api::Node>(c, "newNode", r);
  manager::SyncRule rule;
  rule.diffThreshold = number(c, "resourceDiffThreshold");
  rule.longestWait =
      std::chrono::seconds(static_cast<int64_t>(number(c, "updateTimeThresholdSeconds")));
  if (!member(c, "seconds_since_last_status_write").is_null())
    rule.sinceStatusWrite =
        std::chrono::seconds(static_cast<int64_t>(number(c, "seconds_since_last_status_write")));
  const auto got = manager::judgeSync(manager::ownedOf(before), manager::ownedOf(after), rule);
  const auto want = objectOf(c, "expect");
  r.expect("sync_status", member(want, "sync_status"), got.status);
  r.expect("sync_meta", member(want, "sync_meta"), got.meta);
}

}  // namespace mangrove::vectors
