#pragma once
// The agent's feature gates: the reference's names and defaults. Those of the enforcing half are
// known here too, so that one list of arguments fits.

#include <span>
#include <string_view>

#include "base/feature_gates.h"

namespace mangrove::agent {

namespace gate {
inline constexpr std::string_view kSeasonalPrediction = "SeasonalPrediction";
inline constexpr std::string_view kNodeTopologyReport = "NodeTopologyReport";
inline constexpr std::string_view kResctrlCollector = "ResctrlCollector";
inline constexpr std::string_view kCpiCollector = "CPICollector";
inline constexpr std::string_view kPsiCollector = "PSICollector";
inline constexpr std::string_view kColdPageCollector = "ColdPageCollector";
inline constexpr std::string_view kHugePageReport = "HugePageReport";
inline constexpr std::string_view kPerCpuSeries = "PerCPUMetric";
inline constexpr std::string_view kBlkio = "BlkIOReconcile";
inline constexpr std::string_view kAuditEvents = "AuditEvents";
inline constexpr std::string_view kAuditHttp = "AuditEventsHTTPHandler";
inline constexpr std::string_view kPodResourcesProxy = "PodResourcesProxy";
inline constexpr std::string_view kAccelerators = "Accelerators";
inline constexpr std::string_view kRdmaDevices = "RDMADevices";
inline constexpr std::string_view kSteadyBurst = "SteadyBurst";
inline constexpr std::string_view kNodeMetricSeries = "NodeMetricPromMetrics";
}  // namespace gate

std::span<const GateInfo> agentGates();
// Of --runtime-hooks: settings of pods and containers.
std::span<const GateInfo> hookGates();

}  // namespace mangrove::agent
