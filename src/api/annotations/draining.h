#pragma once
// The taint of nodes whose time for batch work is about to end (ColocationTimePolicy).

#include <string_view>

namespace mangrove::api {

inline constexpr std::string_view kDrainingTaint = "colocation.mangrove.io/colocation-draining";

}  // namespace mangrove::api
