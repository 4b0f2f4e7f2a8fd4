#include "runtime/core/device_variables.h"

#include <algorithm>

#include "api/annotations/device.h"
#include "base/text/strings.h"

namespace mangrove::runtime {

Result<std::vector<std::pair<std::string, std::string>>> deviceVariables(
    const api::Annotations& pod) {
  std::vector<std::pair<std::string, std::string>> out;
  const auto given = api::parseDeviceAllocations(pod);
  if (!given) return pass(given.error());
  if (!*given) return out;
  const auto gpus = (*given)->find("gpu");
  if (gpus == (*given)->end() || gpus->second.empty()) return out;
  std::vector<std::string> minors, ids;
  for (const api::DeviceAllocation& one : gpus->second) {
    minors.push_back(std::to_string(one.minor));
    if (!one.id.empty()) ids.push_back(one.id);
  }
  out.emplace_back("NVIDIA_VISIBLE_DEVICES", join(minors, ","));
  // Numbers of CUDA's own need not be those of the driver: only ids say the same to both.
  if (ids.size() == minors.size()) out.emplace_back("CUDA_VISIBLE_DEVICES", join(ids, ","));
  return out;
}

}  // namespace mangrove::runtime
