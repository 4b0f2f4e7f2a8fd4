#include "placement/plugins/numa/numa_page.h"

#include <fmt/core.h>

namespace mangrove::placement {

namespace {

std::string_view bindWord(api::NodeCpuBindPolicy policy) {
  if (policy == api::NodeCpuBindPolicy::kFullPcpusOnly) return "FullPCPUsOnly";
  return policy == api::NodeCpuBindPolicy::kSpreadByPcpus ? "SpreadByPCPUs" : "";
}

std::string_view policyWord(NumaPolicy policy) {
  switch (policy) {
    case NumaPolicy::kBestEffort:
      return "BestEffort";
    case NumaPolicy::kRestricted:
      return "Restricted";
    case NumaPolicy::kSingleNumaNode:
      return "SingleNUMANode";
    case NumaPolicy::kNone:
      break;
  }
  return "";
}

json::Object toJson(const NumaAmounts& amounts) {
  json::Object out;
  for (const auto& [name, amount] : amounts) out[name] = numaQuantity(name, amount).text();
  return out;
}

}  // namespace

Quantity numaQuantity(const std::string& name, int64_t amount) {
  if (name == kNumaCpu) return Quantity::ofMilli(amount);
  return name == "memory" ? Quantity::of(Bytes{amount}) : Quantity::of(amount);
}

json::Value numaPage(std::string_view name, const NumaNode& node) {
  if (!node.hasCpus())
    return json::Object{{"code", 500},
                        {"message", fmt::format("node {}: invalid CPU Topology", name)}};
  json::Array zones, left, taken, pods, detail;
  for (const auto& cpu : node.layout().cpus())
    detail.push_back(json::Object{
        {"id", cpu.id}, {"core", cpu.core & 0xFFFF}, {"socket", cpu.socket}, {"node", cpu.node}});
  for (const auto& [id, amounts] : node.state().booked)
    taken.push_back(json::Object{{"node", id}, {"resources", toJson(amounts)}});
  for (const auto& [id, amounts] : node.state().zones) {
    zones.push_back(json::Object{{"node", id}, {"resources", toJson(amounts)}});
    left.push_back(
        json::Object{{"node", id}, {"resources", toJson(availableOn(node.state(), {}, id))}});
  }
  for (const auto& [uid, holding] : node.holdings())
    pods.push_back(json::Object{{"uid", uid.str()}, {"cpuset", holding.allocation.cpus.text()}});
  return json::Object{{"name", name},
                      {"cpuTopology", json::Object{{"detail", detail}}},
                      {"policy", json::Object{{"cpuBindPolicy", bindWord(node.bindPolicy())}}},
                      {"numaTopologyPolicy", policyWord(node.policy())},
                      {"allocatedNUMANodeResources", taken},
                      {"reservedCPUs", node.state().reserved.text()},
                      {"maxRefCount", node.state().books.maxRefCount()},
                      {"amplificationRatios", json::Object{{"cpu", node.state().cpuRatio}}},
                      {"numaNodeResources", zones},
                      {"remainingNUMANodeResources", left},
                      {"availableCPUs", node.state().books.available(node.state().reserved).text()},
                      {"allocatedCPUs", node.state().books.taken().text()},
                      {"allocatedPods", pods}};
}

}  // namespace mangrove::placement
