#pragma once
// What a container is told about the cards its pod was given (annotation device-allocated):
//
//   NVIDIA_VISIBLE_DEVICES=0,1                    what NVIDIA's container tools read
//   CUDA_VISIBLE_DEVICES=GPU-4a5c…,GPU-91…        what programs beside no such tools keep to
//
// Pure functions, any thread.

#include <string>
#include <utility>
#include <vector>

#include "api/select/labels.h"
#include "base/result.h"

namespace mangrove::runtime {

// None without GPUs. Fails on an annotation that cannot be read.
Result<std::vector<std::pair<std::string, std::string>>> deviceVariables(
    const api::Annotations& pod);

}  // namespace mangrove::runtime
