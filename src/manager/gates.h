#pragma once
// All feature gates of the manager: those of admission (webhook/gates.h) and those of the
// controllers. Names and defaults as in the reference; gates that mean nothing here are accepted so
// that existing manifests start.

#include <span>
#include <string_view>

#include "base/feature_gates.h"

namespace mangrove::manager {

namespace gate {
inline constexpr std::string_view kSyncGpuShared = "EnableSyncGPUSharedResource";
inline constexpr std::string_view kColocationProfileController = "ColocationProfileController";
}  // namespace gate

std::span<const GateInfo> managerGates();

}  // namespace mangrove::manager
