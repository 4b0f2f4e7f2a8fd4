#pragma once
// Names under which a NodeMetric tells of a card beside what is in use of it.

#include <string_view>

namespace mangrove::api::resource {

inline constexpr std::string_view kGpuCelsius = "mangrove.io/gpu-celsius";

}  // namespace mangrove::api::resource
