#include "api/annotations/topology.h"

#include "api/wire/schema.h"

namespace mangrove::api {

static constexpr Schema kCpu{
    always<&CpuInfo::id>("id"),
    always<&CpuInfo::core>("core"),
    always<&CpuInfo::socket>("socket"),
    always<&CpuInfo::node>("node"),
};
bool read(const In& in, CpuInfo& out) {
  return kCpu.read(in, out);
}
json::Value toJson(const CpuInfo& value) {
  return kCpu.write(value);
}

static constexpr Schema kTopology{unlessUnset<&CpuTopology::detail>("detail")};
bool read(const In& in, CpuTopology& out) {
  return kTopology.read(in, out);
}
json::Value toJson(const CpuTopology& value) {
  return kTopology.write(value);
}
Result<std::optional<CpuTopology>> parseCpuTopology(const Annotations& topology) {
  return parseAnnotation<CpuTopology>(topology, annotation::kCpuTopology);
}

static constexpr Schema kAlloc{
    unlessUnset<&PodCpuAlloc::ns>("namespace"),
    unlessUnset<&PodCpuAlloc::name>("name"),
    unlessUnset<&PodCpuAlloc::uid>("uid"),
    unlessUnset<&PodCpuAlloc::cpuset>("cpuset"),
    unlessUnset<&PodCpuAlloc::managedByKubelet>("managedByKubelet"),
};
bool read(const In& in, PodCpuAlloc& out) {
  return kAlloc.read(in, out);
}
json::Value toJson(const PodCpuAlloc& value) {
  return kAlloc.write(value);
}
Result<std::optional<std::vector<PodCpuAlloc>>> parsePodCpuAllocs(const Annotations& topology) {
  return parseAnnotation<std::vector<PodCpuAlloc>>(topology, annotation::kPodCpuAllocs);
}

static constexpr Schema kPool{
    always<&CpuSharedPool::socket>("socket"),
    always<&CpuSharedPool::node>("node"),
    unlessUnset<&CpuSharedPool::cpuset>("cpuset"),
};
bool read(const In& in, CpuSharedPool& out) {
  return kPool.read(in, out);
}
json::Value toJson(const CpuSharedPool& value) {
  return kPool.write(value);
}
Result<std::optional<CpuSharedPools>> parseCpuSharedPools(const Annotations& topology) {
  return parseAnnotation<CpuSharedPools>(topology, annotation::kCpuSharedPools);
}
Result<std::optional<CpuSharedPools>> parseBeCpuSharedPools(const Annotations& topology) {
  return parseAnnotation<CpuSharedPools>(topology, annotation::kBeCpuSharedPools);
}

static constexpr Schema kManager{
    unlessUnset<&CpuManagerPolicy::policy>("policy"),
    unlessUnset<&CpuManagerPolicy::options>("options"),
    unlessUnset<&CpuManagerPolicy::reservedCpus>("reservedCPUs"),
};
bool read(const In& in, CpuManagerPolicy& out) {
  return kManager.read(in, out);
}
json::Value toJson(const CpuManagerPolicy& value) {
  return kManager.write(value);
}
Result<std::optional<CpuManagerPolicy>> parseCpuManagerPolicy(const Annotations& topology) {
  return parseAnnotation<CpuManagerPolicy>(topology, annotation::kKubeletCpuManagerPolicy);
}

bool CpuManagerPolicy::isFullPcpusOnly() const {
  const auto option = options.find("full-pcpus-only");
  return policy == "static" && option != options.end() && option->second == "true";
}

static constexpr Schema kBasic{
    unlessUnset<&CpuBasicInfo::cpuModel>("cpuModel"),
    unlessUnset<&CpuBasicInfo::hyperThreadEnabled>("hyperThreadEnabled"),
    unlessUnset<&CpuBasicInfo::turboEnabled>("turboEnabled"),
    unlessUnset<&CpuBasicInfo::catL3CbmMask>("catL3CbmMask"),
    unlessUnset<&CpuBasicInfo::vendorId>("vendorID"),
};
bool read(const In& in, CpuBasicInfo& out) {
  return kBasic.read(in, out);
}
json::Value toJson(const CpuBasicInfo& value) {
  return kBasic.write(value);
}
Result<std::optional<CpuBasicInfo>> parseCpuBasicInfo(const Annotations& topology) {
  return parseAnnotation<CpuBasicInfo>(topology, annotation::kCpuBasicInfo);
}

NodeCpuBindPolicy nodeCpuBindPolicyOf(const Labels& node, const CpuManagerPolicy& kubelet) {
  const auto word = node.get(label::kCpuBindPolicy);
  if (word == "FullPCPUsOnly" || kubelet.isFullPcpusOnly())
    return NodeCpuBindPolicy::kFullPcpusOnly;
  if (word == "SpreadByPCPUs") return NodeCpuBindPolicy::kSpreadByPcpus;
  return NodeCpuBindPolicy::kNone;
}

std::optional<NumaAllocateStrategy> numaAllocateStrategyOf(const Labels& node) {
  const auto word = node.get(label::kNumaAllocateStrategy);
  if (word == "MostAllocated") return NumaAllocateStrategy::kMostAllocated;
  if (word == "LeastAllocated") return NumaAllocateStrategy::kLeastAllocated;
  if (word == "DistributeEvenly") return NumaAllocateStrategy::kDistributeEvenly;
  return std::nullopt;
}

NumaTopologyPolicy numaTopologyPolicyOf(std::string_view word) {
  if (word == "BestEffort") return NumaTopologyPolicy::kBestEffort;
  if (word == "Restricted") return NumaTopologyPolicy::kRestricted;
  if (word == "SingleNUMANode") return NumaTopologyPolicy::kSingleNumaNode;
  return NumaTopologyPolicy::kNone;
}

NumaTopologyPolicy numaTopologyPolicyOf(const Labels& node) {
  return numaTopologyPolicyOf(node.get(label::kNumaTopologyPolicy).value_or(""));
}

}  // namespace mangrove::api
