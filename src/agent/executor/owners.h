#pragma once
// The names under which strategies and hooks own control files: in rules, audit records, metrics
// and `explain`.

#include <string_view>

namespace mangrove::agent::owner {

inline constexpr std::string_view kFailSafe = "fail-safe";
inline constexpr std::string_view kCpuSuppress = "cpu-suppress";
inline constexpr std::string_view kPressure = "cpu-pressure";
inline constexpr std::string_view kCpuBurst = "cpu-burst";
inline constexpr std::string_view kMemoryQos = "memory-qos";
inline constexpr std::string_view kGiveBack = "memory-give-back";
inline constexpr std::string_view kKernelFloor = "kernel-floor";
inline constexpr std::string_view kBlkio = "blkio";
inline constexpr std::string_view kCpusetHook = "cpuset-hook";
inline constexpr std::string_view kBatchResource = "batch-resource";
inline constexpr std::string_view kGroupIdentity = "group-identity";
inline constexpr std::string_view kNormalization = "cpu-normalization";
inline constexpr std::string_view kNetworkQos = "network-qos";
inline constexpr std::string_view kTerwayQos = "terway-qos";
inline constexpr std::string_view kSystemConfig = "system-config";
inline constexpr std::string_view kResctrl = "resctrl";
inline constexpr std::string_view kPodResctrl = "pod-resctrl";
inline constexpr std::string_view kColdScan = "cold-scan";
inline constexpr std::string_view kOomScore = "oom-score";
inline constexpr std::string_view kCoreSched = "core-sched";
inline constexpr std::string_view kInterference = "interference";

}  // namespace mangrove::agent::owner
