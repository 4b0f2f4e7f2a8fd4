#pragma once
// Fixed shares of a card that a vendor's driver can cut, as an administrator lists them in a
// ConfigMap (key data.yaml):
//
//   huawei-Ascend-310P3:
//     vir01: {huawei.com/npu-core: 1, huawei.com/npu-cpu: 1, koordinator.sh/gpu-memory: 3Gi}
//
// Pure functions, any thread.

#include <string_view>

#include "base/result.h"
#include "placement/device/allocate.h"

namespace mangrove::placement {

using TemplatesByModel = std::map<std::string, std::map<std::string, Amounts>>;
Result<TemplatesByModel> readGpuTemplates(std::string_view yaml);

// Whether the request asks for one of the matched names, so that it must be a template.
bool needsTemplate(const GpuTemplates& templates, const DeviceRequest& request);
bool isTemplateAnywhere(const GpuTemplates& templates, const Amounts& each);

}  // namespace mangrove::placement
