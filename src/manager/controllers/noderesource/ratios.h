#pragma once
// The two ratios a node carries as annotations: how much faster than the reference CPU it is, and
// by how much its allocatable is stretched. The stretching itself is admission's (webhook/node).
//
// Pure; any thread.

#include <map>
#include <optional>
#include <string>

#include "api/annotations/node.h"
#include "api/annotations/topology.h"
#include "manager/config/slo_config.h"

namespace mangrove::manager {

// 1 when switched off. An error keeps the annotation as it is: the label or the CPU's description
// cannot be read, the model has no ratio, or it is outside 1 … 5.
Result<double> normalizationRatio(const KeyState<CpuNormalization>& config, const api::Labels& node,
                                  const Result<std::optional<api::CpuBasicInfo>>& cpu);

// nullopt: no annotation. `normalization` is the node's ratio, when it has one.
Result<std::optional<api::AmplificationRatios>> amplificationRatios(
    const KeyState<ResourceAmplification>& config, const api::Labels& node,
    const std::optional<double>& normalization);

}  // namespace mangrove::manager
