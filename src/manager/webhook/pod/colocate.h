#pragma once
// Pods that ask for colocation by a label: caster.io/resource-type: colocation, or
// colocation.mangrove.io/resource-type: batch (or mid). Their native amounts become reclaimed ones,
// and Koordinator's classes are written on them.
//
//   requests {cpu: 1500m, memory: 2Gi}, limits {cpu: 2}
//     → requests {batch-cpu: 1500, batch-memory: 2Gi}, limits {batch-cpu: 2000, batch-memory: 2Gi}
//
// What the pod said before is kept in annotation colocation.mangrove.io/original-resources. Doing
// it twice changes nothing more. One thread at a time per value.

#include <optional>
#include <string_view>

#include "api/pod/classes.h"
#include "base/result.h"
#include "json/value.h"
#include "manager/webhook/surroundings.h"

namespace mangrove::manager {

inline constexpr std::string_view kCasterResourceType = "caster.io/resource-type";
inline constexpr std::string_view kResourceType = "colocation.mangrove.io/resource-type";
inline constexpr std::string_view kOriginalResources = "colocation.mangrove.io/original-resources";
inline constexpr std::string_view kCasterCpu = "caster.io/colocation-cpu";
inline constexpr std::string_view kCasterMemory = "caster.io/colocation-memory";

// The band the labels ask for; nullopt: they do not ask.
std::optional<api::PriorityBand> askedBand(const api::Labels& labels);
std::optional<api::PriorityBand> askedBand(const json::Object& pod);

// Fails when a container names no amounts and the options say that this is a mistake.
Result<> colocateByLabel(json::Object& pod, api::PriorityBand band, const Surroundings& around);

}  // namespace mangrove::manager
