// The scheduler's order of pods, resource scores and normalisation (docs/scheduler.md).
#include <algorithm>

#include "api/pod/pod.h"
#include "placement/config/config.h"
#include "placement/framework/scale.h"
#include "placement/plugins/registry.h"
#include "placement/queue/queue.h"
#include "vector_runner/handlers.h"

namespace mangrove::vectors {
namespace {

using namespace placement;

std::shared_ptr<api::Pod> podOf(const json::Value& value) {
  auto pod = api::decodeText<api::Pod>(json::write(value));
  return pod ? std::make_shared<api::Pod>(std::move(*pod)) : std::make_shared<api::Pod>();
}

bool isFitStrategy(std::string_view plugin) {
  return plugin == "LeastAllocated" || plugin == "MostAllocated" ||
         plugin == "RequestedToCapacityRatio";
}

// The plugin and its arguments as a configuration file would have them.
std::pair<std::string, json::Value> configured(std::string_view plugin, const json::Value& args) {
  if (plugin == "BalancedAllocation") return {"NodeResourcesBalancedAllocation", args};
  if (!isFitStrategy(plugin)) return {std::string(plugin), args};
  json::Object strategy = args.as_object();
  strategy["type"] = plugin;
  if (auto* shape = strategy.if_contains("shape")) {
    json::Value points = *shape;
    strategy.erase("shape");
    strategy["requestedToCapacityRatio"] = json::Object{{"shape", points}};
  }
  return {"NodeResourcesFit", json::Object{{"scoringStrategy", strategy}}};
}

void fillNode(Cluster& cluster, const json::Object& c) {
  json::Object node{{"metadata", json::Object{{"name", "n"}}},
                    {"status", json::Object{{"allocatable", member(c, "node_allocatable")}}}};
  auto decoded = api::decodeText<api::Node>(json::write(node));
  cluster.putNode(std::make_shared<api::Node>(std::move(*decoded)));
  if (const json::Value& pods = member(c, "node_pods"); pods.is_array())
    for (const auto& pod : pods.get_array()) cluster.observe(podOf(pod));
}

}  // namespace

void queueSort(const json::Object& c, Report& r) {
  struct Waiting {
    std::string name;
    int32_t priority;
    MonoTime since;
  };
  std::vector<Waiting> pods;
  for (const auto& value : member(c, "pods").as_array()) {
    const json::Object& pod = value.as_object();
    pods.push_back(
        {std::string(text(pod, "name")), static_cast<int32_t>(number(pod, "priority")),
         MonoTime(std::chrono::milliseconds(static_cast<int64_t>(number(pod, "queued_at_ms"))))});
  }
  std::stable_sort(pods.begin(), pods.end(), [](const Waiting& a, const Waiting& b) {
    return comesFirst(a.priority, a.since, b.priority, b.since);
  });
  json::Array order;
  for (const auto& pod : pods) order.emplace_back(pod.name);
  r.expect("order", member(c, "order"), order);
}

void scorePrimitives(const json::Object& c, Report& r) {
  Cluster cluster;
  const auto [name, args] = configured(text(c, "plugin"), member(c, "args"));
  const auto entries = pluginEntries();
  const auto entry = std::find_if(entries.begin(), entries.end(),
                                  [&, &n = name](const auto& e) { return e.name == n; });
  if (entry == entries.end()) return r.mismatch("plugin", name, "unknown");
  auto plugin = entry->make(args, {cluster, realClock()});
  if (!plugin) return r.mismatch("args", "accepted", plugin.error().text());
  fillNode(cluster, c);
  PodPlan plan;
  plan.cls = cluster.classes.of(*podOf(member(c, "pod")));
  plan.data.push_back((*plugin)->compile(*plan.cls));
  NodeLocal& local = *(*plugin)->nodeLocal();
  const bool skip = !local.scores(plan);
  r.expect("skip", member(c, "skip").is_bool() ? member(c, "skip") : json::Value(false), skip);
  if (skip) return;
  const Row row = cluster.table.find("n");
  int32_t score = 0;
  local.score(plan, cluster.table, std::span(&row, 1), &score);
  r.expect("score", member(c, "score"), score);
}

void scoreNormalize(const json::Object& c, Report& r) {
  std::vector<int64_t> raw;
  for (const auto& value : member(c, "raw").as_array()) raw.push_back(value.to_number<int64_t>());
  const bool reverse = member(c, "reverse").is_bool() && member(c, "reverse").get_bool();
  const int64_t top =
      raw.empty() ? 0 : std::max<int64_t>(0, *std::max_element(raw.begin(), raw.end()));
  json::Array out;
  for (int64_t score : raw) out.emplace_back(scaledScore(score, top, reverse));
  r.expect("normalized", member(c, "normalized"), out);
}

}  // namespace mangrove::vectors
