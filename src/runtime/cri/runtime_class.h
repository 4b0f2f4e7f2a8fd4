#pragma once
// How pods choose who runs them.

#include <string_view>

#include "api/wire/kind.h"

namespace mangrove::runtime::cri {

inline constexpr api::Kind kRuntimeClass{"node.k8s.io",    "v1",  "RuntimeClass",
                                         "runtimeclasses", false, false};
// A pod that wants to be run by ourselves although there is a container runtime.
inline constexpr std::string_view kOwnRuntimeClass = "mangrove-process";

}  // namespace mangrove::runtime::cri
