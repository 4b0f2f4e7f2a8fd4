#include "agent/qos/evict/task.h"
#include "vector_runner/enforce_support.h"

namespace mangrove::vectors {
namespace {

namespace feature = agent::feature;

struct Case {
  api::ResourceThresholdStrategy slo;
  api::Node node;
  std::vector<api::Pod> pods;
  std::vector<agent::EvictPod> candidates;
};

bool load(const json::Object& c, Report& r, Case& out) {
  auto slo = decoded<api::ResourceThresholdStrategy>(member(c, "thresholds"), r, "thresholds");
  auto node = decoded<api::Node>(member(c, "node"), r, "node");
  if (!slo || !node) return false;
  out.slo = *std::move(slo);
  out.node = *std::move(node);
  for (const json::Value& one : c.at("pods").get_array()) {
    auto pod = decoded<api::Pod>(one.at("pod"), r, "pod");
    if (!pod) return false;
    agent::EvictPod candidate;
    const json::Value& cores = member(one.get_object(), "used_cores");
    if (cores.is_number()) candidate.usedCores = cores.to_number<double>();
    const json::Value& memory = member(one.get_object(), "memory_used_bytes");
    if (memory.is_number()) candidate.memory = Bytes{memory.to_number<int64_t>()};
    for (const json::Value& name : c.at("already_evicted").get_array())
      candidate.leaving |= std::string_view(name.get_string()) == pod->meta.name.view();
    out.pods.push_back(*std::move(pod));
    out.candidates.push_back(candidate);
  }
  for (size_t i = 0; i < out.pods.size(); ++i) out.candidates[i].pod = &out.pods[i];
  return true;
}

agent::BeSample sampleOf(const json::Value& value) {
  const json::Object& o = value.get_object();
  return {{static_cast<int64_t>(number(o, "usage"))},
          {static_cast<int64_t>(number(o, "request"))},
          {static_cast<int64_t>(number(o, "limit"))}};
}

agent::EvictTask taskOf(const json::Object& c, const agent::EvictInputs& in) {
  const std::string_view name = text(c, "feature");
  if (name == feature::kBeMemory) return agent::beMemoryTask(in);
  if (name == feature::kMemory) return agent::memoryTask(in);
  if (name == feature::kMemoryAllocatable) return agent::allocatableTask(in, "memory");
  if (name == feature::kCpu) return agent::cpuTask(in);
  if (name == feature::kCpuAllocatable) return agent::allocatableTask(in, "cpu");
  std::optional<agent::BeHistory> history;
  if (const json::Object* be = member(c, "be_milli").if_object())
    history = agent::BeHistory{static_cast<int64_t>(number(*be, "sample_count")),
                               sampleOf(be->at("avg")), sampleOf(be->at("last"))};
  const auto seconds = static_cast<int64_t>(number(c, "collect_interval_seconds"));
  return agent::beCpuTask(in, history, std::chrono::seconds(seconds));
}

json::Array namesOf(const std::vector<const agent::EvictPod*>& pods) {
  json::Array out;
  for (const agent::EvictPod* one : pods) out.push_back(json::Value(one->pod->meta.name.view()));
  return out;
}

}  // namespace

void evict(const json::Object& c, Report& r) {
  Case loaded;
  if (!load(c, r, loaded)) return;
  agent::EvictInputs in{loaded.slo, loaded.node, loaded.candidates, {}, 0};
  in.memoryUsed = {static_cast<int64_t>(number(c, "node_memory_used_bytes"))};
  in.cpuUsedAvg = number(c, "node_avg_used_cores");
  const agent::EvictTask task = taskOf(c, in);
  const json::Object& want = c.at("expect").get_object();
  json::Object release;
  for (const auto& [name, amount] : task.release)
    release[name] = std::to_string(amount) + (name == "cpu" ? "m" : "");
  r.expect("config_valid", member(want, "config_valid"), task.valid);
  r.expectAmounts("release", member(want, "release"), release);
  if (member(want, "order").is_array())
    r.expect("order", member(want, "order"), namesOf(task.order));
  r.expect("victims", member(want, "victims"), namesOf(agent::pickVictims(task)));
}

}  // namespace mangrove::vectors
