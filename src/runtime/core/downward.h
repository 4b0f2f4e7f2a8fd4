#pragma once
// What a pod may learn of itself: fields of its own object and amounts of its own containers. Pure.

#include <optional>
#include <string>
#include <string_view>

#include "api/pod/pod_run.h"
#include "base/result.h"
#include "runtime/core/pod_model.h"

namespace mangrove::runtime {

// What the object does not say (yet).
struct DownwardFacts {
  std::string nodeName, hostIp, podIp;
  MilliCpu machineCpu;  // stand for limits that are not set
  Bytes machineMemory;
};

// "metadata.name", "metadata.labels['app']", "metadata.labels" (all, one line each),
// "spec.nodeName", "status.podIP" …; kInvalid for what is no such field.
Result<std::string> fieldValue(const RunPod& pod, const DownwardFacts& facts,
                               std::string_view path);
// "limits.cpu", "requests.memory" … of `container`, rounded up to the divisor.
Result<std::string> resourceValue(const RunPod& pod, const DownwardFacts& facts,
                                  std::string_view container,
                                  const api::EnvVar::ResourceField& field);

}  // namespace mangrove::runtime
