#pragma once
// How groups of single pods are named in resctrl, as the reference names them: who makes them and
// who reads them must agree.

#include <string_view>

namespace mangrove::agent {

inline constexpr std::string_view kPodResctrlPrefix = "koordlet-";  // then the pod's uid

}  // namespace mangrove::agent
