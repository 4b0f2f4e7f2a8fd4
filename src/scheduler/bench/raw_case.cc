#include "scheduler/bench/raw_case.h"

#include <algorithm>

#include <fmt/core.h>

#include "scheduler/bench/bench_cluster.h"

namespace mangrove::scheduler {

namespace {

using client::Chain;
using client::Request;

constexpr size_t kVictims = 3;  // pods of 900m that go for one of 3 cores on a node of 4
const std::string kNamespace(client::kRawNamespace);

std::string podName(size_t pod) {
  return fmt::format("raw-{}", pod);
}
std::string victimName(size_t pod, size_t victim) {
  return fmt::format("victim-{}", pod * kVictims + victim);
}

Request podCreation(BenchPod kind, std::string_view name, size_t number, size_t nodes) {
  return creation(api::kind::kPod, kNamespace,
                  podJson(kind, name, number, nodes, "nobody", kNamespace));
}

Request binding(const std::string& pod, size_t node) {
  api::ObjectMeta meta;
  meta.name = api::Text(pod);
  meta.ns = Interned(kNamespace);
  return client::bindRequest(meta, fmt::format("node-{}", node));
}

Request statusPatch(const std::string& pod, std::string body) {
  return client::patchRequest({api::kind::kPod, kNamespace, pod, "status"},
                              client::PatchType::kStrategic, std::move(body));
}

void addEviction(Chain& chain, const std::string& victim) {
  chain.push_back(statusPatch(
      victim,
      R"({"status":{"conditions":[{"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler","message":"nobody: preempting to accommodate a higher priority pod","lastTransitionTime":"2026-01-01T00:00:00Z"}]}})"));
  chain.push_back(client::deleteRequest({api::kind::kPod, kNamespace, victim}));
}

Request nomination(const std::string& pod, size_t node, size_t nodes) {
  return statusPatch(
      pod,
      fmt::format(
          R"({{"status":{{"conditions":[{{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/{0} nodes are available: {0} Insufficient cpu.","lastTransitionTime":"2026-01-01T00:00:00Z"}}],"nominatedNodeName":"node-{1}"}}}})",
          nodes, node));
}

void addChurn(Chain& chain, const BenchCase& bench, size_t pod) {
  const size_t number = 2 * kFirstChurnedNode + pod;
  chain.push_back(creation(api::kind::kNode, "", nodeJson(bench, number)));
  chain.push_back(client::deleteRequest({api::kind::kNode, "", fmt::format("node-{}", number)}));
}

Chain preparation(const BenchCase& bench, size_t pod, size_t nodes) {
  Chain chain;
  chain.push_back(podCreation(bench.measured, "raw", pod, nodes));
  if (bench.measured != BenchPod::kHighPriority) return chain;
  for (size_t i = 0; i < kVictims; i++) {
    chain.push_back(podCreation(BenchPod::kLowPriority, "victim", pod * kVictims + i, nodes));
    chain.push_back(binding(victimName(pod, i), pod % nodes));
  }
  return chain;
}

Chain writes(const BenchCase& bench, size_t pod, size_t nodes) {
  Chain chain;
  if (bench.churn && pod % kChurnEvery == 0) addChurn(chain, bench, pod);
  if (bench.measured == BenchPod::kHighPriority) {
    for (size_t i = 0; i < kVictims; i++) addEviction(chain, victimName(pod, i));
    chain.push_back(nomination(podName(pod), pod % nodes, nodes));
  }
  chain.push_back(binding(podName(pod), pod % nodes));
  return chain;
}

}  // namespace

client::RawBindingPlan rawPlan(const BenchCase& bench, const BenchOptions& options) {
  const auto nodes = static_cast<size_t>(std::max<int64_t>(1, options.nodes));
  client::RawBindingPlan plan;
  plan.prepare = [&bench, nodes](int64_t i) {
    return preparation(bench, static_cast<size_t>(i), nodes);
  };
  plan.writes = [&bench, nodes](int64_t i) { return writes(bench, static_cast<size_t>(i), nodes); };
  return plan;
}

Result<std::unique_ptr<RawSide>> RawSide::connect(const client::ClientConfig& config,
                                                  const BenchCase& bench,
                                                  const BenchOptions& options) {
  auto bindings = client::RawBindings::connect(config, rawPlan(bench, options));
  if (!bindings) return pass(bindings.error());
  return std::unique_ptr<RawSide>(new RawSide(std::move(*bindings)));
}

Result<Slice> RawSide::slice(size_t pods) {
  const auto load = bindings_->slice(static_cast<int64_t>(pods));
  if (!load) return pass(load.error());
  return Slice{pods, load->seconds, load->used.clientSeconds};
}

}  // namespace mangrove::scheduler
