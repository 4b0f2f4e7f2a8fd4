#include "agent/qos/memory_qos/values.h"
#include "vector_runner/enforce_support.h"

namespace mangrove::vectors {
namespace {

json::Object byDirectory(const std::vector<agent::MemorySetting>& settings) {
  json::Object out;
  for (const agent::MemorySetting& one : settings) {
    json::Value& files = out["/" + one.cgroup];
    if (!files.is_object()) files.emplace_object();
    files.get_object()[one.resource] = std::to_string(one.value.number);
  }
  return out;
}

}  // namespace

void memoryQos(const json::Object& c, Report& r) {
  auto strategy = decoded<api::ResourceQosStrategy>(member(c, "strategy"), r, "strategy");
  auto node = decoded<api::Node>(member(c, "node"), r, "node");
  if (!strategy || !node) return;
  std::vector<api::Pod> pods;
  for (const json::Value& one : c.at("pods").get_array())
    if (auto pod = decoded<api::Pod>(one, r, "pod")) pods.push_back(*std::move(pod));
  agent::MemoryQosInputs in{
      *strategy, *node, {}, kernel::CgroupLayout(kernel::CgroupDriver::kSystemd)};
  for (const api::Pod& pod : pods) in.pods.push_back(&pod);
  const agent::MemoryQosValues got = agent::memoryQosValues(in);
  const json::Object& want = c.at("expect").get_object();
  r.expect("qos_level", member(want, "qos_level"), byDirectory(got.tiers));
  r.expect("pod_level", member(want, "pod_level"), byDirectory(got.pods));
  r.expect("container_level", member(want, "container_level"), byDirectory(got.containers));
}

}  // namespace mangrove::vectors
