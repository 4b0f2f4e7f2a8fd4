#pragma once
// The CPU layout of a node and who has which CPUs: annotations of the NodeResourceTopology object,
// written by the agent, and the node labels that steer placement on it. An empty value is an error.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/annotations/annotation.h"

namespace mangrove::api {

struct CpuInfo {
  int32_t id = 0;
  int32_t core = 0;
  int32_t socket = 0;
  int32_t node = 0;
  bool operator==(const CpuInfo&) const = default;
};
bool read(const In& in, CpuInfo& out);
json::Value toJson(const CpuInfo& value);

struct CpuTopology {
  std::vector<CpuInfo> detail;
  bool operator==(const CpuTopology&) const = default;
};
bool read(const In& in, CpuTopology& out);
json::Value toJson(const CpuTopology& value);
Result<std::optional<CpuTopology>> parseCpuTopology(const Annotations& topology);

struct PodCpuAlloc {
  std::string ns;
  std::string name;
  std::string uid;
  std::string cpuset;
  bool managedByKubelet = false;
  bool operator==(const PodCpuAlloc&) const = default;
};
bool read(const In& in, PodCpuAlloc& out);
json::Value toJson(const PodCpuAlloc& value);
Result<std::optional<std::vector<PodCpuAlloc>>> parsePodCpuAllocs(const Annotations& topology);

struct CpuSharedPool {
  int32_t socket = 0;
  int32_t node = 0;
  std::string cpuset;
  bool operator==(const CpuSharedPool&) const = default;
};
bool read(const In& in, CpuSharedPool& out);
json::Value toJson(const CpuSharedPool& value);
using CpuSharedPools = std::vector<CpuSharedPool>;
Result<std::optional<CpuSharedPools>> parseCpuSharedPools(const Annotations& topology);
Result<std::optional<CpuSharedPools>> parseBeCpuSharedPools(const Annotations& topology);

struct CpuManagerPolicy {
  std::string policy;  // static, none
  std::map<std::string, std::string> options;
  std::string reservedCpus;

  bool isFullPcpusOnly() const;  // static with full-pcpus-only=true
  bool operator==(const CpuManagerPolicy&) const = default;
};
bool read(const In& in, CpuManagerPolicy& out);
json::Value toJson(const CpuManagerPolicy& value);
Result<std::optional<CpuManagerPolicy>> parseCpuManagerPolicy(const Annotations& topology);

struct CpuBasicInfo {
  std::string cpuModel;
  bool hyperThreadEnabled = false;
  bool turboEnabled = false;
  std::string catL3CbmMask;
  std::string vendorId;
  bool operator==(const CpuBasicInfo&) const = default;
};
bool read(const In& in, CpuBasicInfo& out);
json::Value toJson(const CpuBasicInfo& value);
Result<std::optional<CpuBasicInfo>> parseCpuBasicInfo(const Annotations& topology);

enum class NodeCpuBindPolicy { kNone, kFullPcpusOnly, kSpreadByPcpus };
// FullPCPUsOnly when the label or the kubelet says so.
NodeCpuBindPolicy nodeCpuBindPolicyOf(const Labels& node, const CpuManagerPolicy& kubelet);

enum class NumaAllocateStrategy { kMostAllocated, kLeastAllocated, kDistributeEvenly };
std::optional<NumaAllocateStrategy> numaAllocateStrategyOf(const Labels& node);

enum class NumaTopologyPolicy { kNone, kBestEffort, kRestricted, kSingleNumaNode };
NumaTopologyPolicy numaTopologyPolicyOf(
    std::string_view word);  // also for pods' numa-topology-spec
NumaTopologyPolicy numaTopologyPolicyOf(const Labels& node);

}  // namespace mangrove::api
