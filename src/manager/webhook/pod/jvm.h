#pragma once
// Pods of Spark and Flink that were rewritten to reclaimed amounts: without
// native cpu a JVM counts the CPUs of the whole node and starts a thread for each. So its
// containers learn what was asked for, in the variable COLOCATION_ORIGINAL_RESOURCES by the
// downward API; and where annotation colocation.mangrove.io/set-active-processor-count is "true",
// the JVM is told to count no more than that.
//
//   tellJvms(pod, original);           // {container name: its resources before the rewriting}
//
// Doing it twice changes nothing. Pure; any thread.

#include <string_view>

#include "json/value.h"

namespace mangrove::manager {

inline constexpr std::string_view kOriginalResourcesEnv = "COLOCATION_ORIGINAL_RESOURCES";
inline constexpr std::string_view kSetActiveProcessors =
    "colocation.mangrove.io/set-active-processor-count";

// Pods that operators of Spark and Flink make, by the labels that they put on them.
bool runsJvm(const json::Object& pod);
void tellJvms(json::Object& pod, const json::Object& original);

}  // namespace mangrove::manager
