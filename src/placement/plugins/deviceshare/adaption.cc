#include "placement/plugins/deviceshare/adaption.h"

#include <fmt/core.h>

#include "api/wire/names.h"
#include "base/text/strings.h"
#include "placement/device/request.h"

namespace mangrove::placement {
namespace {

constexpr std::string_view kBindTimestamp = "scheduling.koordinator.sh/bind-timestamp";
constexpr std::string_view kGpuMinors = "scheduling.koordinator.sh/gpu-minors";
constexpr std::string_view kPredicateTime = "predicate-time";
constexpr std::string_view kAscend310p = "huawei.com/Ascend310P";
constexpr std::string_view kDuoModel = "Ascend-310P3-300I-DUO";

using Gpus = std::vector<api::DeviceAllocation>;

std::string nanos(WallTime now) {
  return fmt::format(
      "{}", std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch()).count());
}

std::string minorsOf(const Gpus& gpus, std::string_view before = "") {
  std::vector<std::string> out;
  for (const auto& one : gpus) out.push_back(fmt::format("{}{}", before, one.minor));
  return join(out, ",");
}

// Cards whole by number; a part of one by number and the name of its template.
std::string huaweiCores(const Gpus& gpus) {
  std::vector<std::string> out;
  for (const auto& one : gpus) {
    const std::string cut = one.extension ? one.extension->gpuSharedResourceTemplate : "";
    out.push_back(cut.empty() ? fmt::format("{}", one.minor)
                              : fmt::format("{}-{}", one.minor, cut));
  }
  return join(out, ",");
}

void adaptHuawei(const Adaption& what, const Gpus& gpus, std::string_view model, BindNotes& notes) {
  notes.annotations.emplace_back(kPredicateTime, nanos(what.now));
  if (model == kDuoModel)
    notes.annotations.emplace_back(kAscend310p, minorsOf(gpus, "Ascend310P-"));
  else
    notes.annotations.emplace_back(api::resource::kHuaweiNpuCore, huaweiCores(gpus));
}

}  // namespace

Result<> adapt(const Adaption& what, BindNotes& notes) {
  notes.annotations.emplace_back(kBindTimestamp, nanos(what.now));
  const auto gpus = what.given.find(std::string(device_type::kGpu));
  if (gpus == what.given.end() || gpus->second.empty()) return {};
  notes.annotations.emplace_back(kGpuMinors, minorsOf(gpus->second));
  if (api::isolatesGpuByHami(what.pod.meta.labels))
    notes.labels.emplace_back(api::label::kHamiVgpuNode, what.node.meta.name.view());
  const api::Labels& labels = what.node.meta.labels;
  const std::string_view vendor = labels.get(api::label::kGpuVendor).value_or("");
  const std::string_view model = labels.get(api::label::kGpuModel).value_or("");
  if (vendor == "huawei") adaptHuawei(what, gpus->second, model, notes);
  if (vendor == "cambricon" || vendor == "metax")
    return fail(mangrove::Code::kUnsupported,
                "node {} has cards of {}, whose device plugin wants a lock on the node; this "
                "scheduler does not take it (turn gate DevicePluginAdaption off, or keep such "
                "nodes out)",
                what.node.meta.name.view(), vendor);
  return {};
}

}  // namespace mangrove::placement
