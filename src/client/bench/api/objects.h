#pragma once
// The nodes and pods the benchmark writes: of the size and shape that schedulers and kubelets deal
// with. Pure.

#include <cstdint>
#include <string>
#include <string_view>

#include "client/api_client.h"

namespace mangrove::client {

inline constexpr std::string_view kBenchLabel = "mangrove.io/bench";
inline constexpr std::string_view kSentAnnotation = "mangrove.io/bench-sent";

std::string benchNodeName(int64_t index);
std::string benchPodName(int64_t index);
Request createNamespace(const std::string& name);
Request createNode(const std::string& label, int64_t index);
Request createPod(const std::string& ns, int64_t index);
Request bindPod(const std::string& ns, int64_t index, int64_t nodes);
// A merge patch of one annotation.
Request patchPod(const std::string& ns, int64_t index, std::string_view value);
Request getPod(const std::string& ns, int64_t index);

}  // namespace mangrove::client
