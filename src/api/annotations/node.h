#pragma once
// What annotations and labels say about a node's amounts: reservations, ratios, allocations of
// third parties.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/annotations/annotation.h"
#include "api/pod/resource_list.h"

namespace mangrove::api {

// Kept free on the node. "" is absent.
struct NodeReservation {
  ResourceList resources;
  std::string reservedCpus;  // "0-5"
  std::string applyPolicy;   // Default, ReservedCPUsOnly; "" is Default

  bool isCpusOnly() const { return applyPolicy == "ReservedCPUsOnly"; }
  bool operator==(const NodeReservation&) const = default;
};
bool read(const In& in, NodeReservation& out);
json::Value toJson(const NodeReservation& value);
Result<std::optional<NodeReservation>> parseNodeReservation(const Annotations& node);
// The amounts it takes: of cpu the number of reservedCPUs when they are given. Reserved CPUs that
// are no CPU list make the whole reservation an error.
Result<ResourceList> reservedAmounts(const NodeReservation& reservation);
// How CPUs are reserved: as a list, or (without one) as how many, rounded up.
struct ReservedCpus {
  std::string cpuset;
  int64_t count = 0;
  bool operator==(const ReservedCpus&) const = default;
};
ReservedCpus reservedCpus(const NodeReservation& reservation);

// CPUs for system-QoS pods.
struct SystemQosResource {
  std::string cpuset;
  std::optional<bool> cpusetExclusive;

  bool isExclusive() const { return cpusetExclusive.value_or(true); }
  bool operator==(const SystemQosResource&) const = default;
};
bool read(const In& in, SystemQosResource& out);
json::Value toJson(const SystemQosResource& value);
Result<std::optional<SystemQosResource>> parseSystemQosResource(const Annotations& node);

// Bits per second, as text of the annotation network-bandwidth.
Result<std::optional<Quantity>> parseNetworkBandwidth(const Annotations& node);

// Above 0; nullopt when absent (the reference says -1).
Result<std::optional<double>> parseCpuNormalizationRatio(const Annotations& node);
std::string formatCpuNormalizationRatio(double ratio);  // "1.20"
Result<std::optional<bool>> parseCpuNormalizationEnabled(const Labels& node);

// Factors by resource, written with two decimals: {"cpu":1.20}.
using AmplificationRatios = std::map<std::string, double>;
Result<std::optional<AmplificationRatios>> parseAmplificationRatios(const Annotations& node);
std::string formatAmplificationRatios(const AmplificationRatios& ratios);
// Allocatable before amplification.
Result<std::optional<ResourceList>> parseRawAllocatable(const Annotations& node);

// Batch resources before third parties took theirs.
struct OriginAllocatable {
  ResourceList resources;
  bool operator==(const OriginAllocatable&) const = default;
};
bool read(const In& in, OriginAllocatable& out);
json::Value toJson(const OriginAllocatable& value);
Result<std::optional<OriginAllocatable>> parseOriginExtendedAllocatable(const Annotations& node);

struct ThirdPartyAllocation {
  std::string name;
  std::string priority;  // koord-batch …
  ResourceList resources;
  bool operator==(const ThirdPartyAllocation&) const = default;
};
bool read(const In& in, ThirdPartyAllocation& out);
json::Value toJson(const ThirdPartyAllocation& value);
struct ThirdPartyAllocations {
  std::vector<ThirdPartyAllocation> allocations;

  ResourceList sumOf(std::string_view priority) const;
  bool operator==(const ThirdPartyAllocations&) const = default;
};
bool read(const In& in, ThirdPartyAllocations& out);
json::Value toJson(const ThirdPartyAllocations& value);
Result<std::optional<ThirdPartyAllocations>> parseThirdPartyAllocations(const Annotations& node);

// Labels cpu-reclaim-ratio, memory-reclaim-ratio, mid-static-…-reserved-ratio: at least 0, else an
// error (callers then ignore the label).
Result<std::optional<double>> parseRatioLabel(const Labels& node, std::string_view key);
// Label enable-numa-reservation=true.
bool hasNumaReservation(const Labels& node);

}  // namespace mangrove::api
