#include "placement/plugins/deviceshare/adaption.h"

#include <fmt/core.h>

#include "api/wire/names.h"
#include "base/text/strings.h"
#include "json/value.h"
#include "placement/device/request.h"
#include "placement/plugins/deviceshare/node_lock.h"

namespace mangrove::placement {
namespace {

constexpr std::string_view kBindTimestamp = "scheduling.koordinator.sh/bind-timestamp";
constexpr std::string_view kGpuMinors = "scheduling.koordinator.sh/gpu-minors";
constexpr std::string_view kPredicateTime = "predicate-time";
constexpr std::string_view kAscend310p = "huawei.com/Ascend310P";
constexpr std::string_view kDuoModel = "Ascend-310P3-300I-DUO";

constexpr std::string_view kCambriconGiven = "CAMBRICON_DSMLU_ASSIGHED";  // as its plugin spells it
constexpr std::string_view kCambriconProfile = "CAMBRICON_DSMLU_PROFILE";
constexpr std::string_view kCambriconLock = "cambricon.com/dsmlu.lock";
constexpr std::string_view kMetaxGiven = "metax-tech.com/gpu-devices-allocated";
constexpr std::string_view kMetaxLock = "hami.io/mutex.lock";
constexpr int64_t kCambriconUnit = int64_t{256} << 20, kMebi = int64_t{1} << 20;

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

int64_t amountOf(const api::DeviceAllocation& one, std::string_view name) {
  return one.resources.amount(name).value();
}

// Its plugin cuts one card by cores and units of memory.
Result<> adaptCambricon(const Gpus& gpus, BindNotes& notes) {
  const int64_t core = amountOf(gpus.front(), api::resource::kGpuCore);
  const int64_t memory = amountOf(gpus.front(), api::resource::kGpuMemory);
  if (gpus.size() != 1)
    return fail(mangrove::Code::kUnsupported, "{} cards of Cambricon; its plugin serves one a pod",
                gpus.size());
  if (core == 0 || memory < kCambriconUnit)
    return fail(mangrove::Code::kUnsupported,
                "a card of Cambricon with {}={} and {}={}: want cores, and 256Mi or more",
                api::resource::kGpuCore, core, api::resource::kGpuMemory, memory);
  notes.annotations.emplace_back(kCambriconGiven, "false");
  notes.annotations.emplace_back(kCambriconProfile, fmt::format("{}_{}_{}", gpus.front().minor,
                                                                core, memory / kCambriconUnit));
  return {};
}

void adaptMetax(const Gpus& gpus, BindNotes& notes) {
  json::Array cards;
  for (const api::DeviceAllocation& one : gpus)
    cards.push_back(json::Object{{"uuid", one.id},
                                 {"compute", amountOf(one, api::resource::kGpuCore)},
                                 {"vRam", amountOf(one, api::resource::kGpuMemory) / kMebi}});
  json::Array containers;  // all of them belong to the one
  containers.push_back(std::move(cards));
  notes.annotations.emplace_back(kMetaxGiven, json::write(containers));
}

Result<> lockNode(const Adaption& what, std::string_view key, BindNotes& notes) {
  auto patch = takeNodeLock({what.node, key, what.pod, what.now, what.isThere});
  if (!patch) return pass(patch.error());
  notes.patches.push_back(std::move(*patch));
  return {};
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
  if (vendor == "cambricon") {
    if (auto ok = adaptCambricon(gpus->second, notes); !ok) return ok;
    return lockNode(what, kCambriconLock, notes);
  }
  if (vendor != "metax") return {};
  adaptMetax(gpus->second, notes);
  return lockNode(what, kMetaxLock, notes);
}

}  // namespace mangrove::placement
