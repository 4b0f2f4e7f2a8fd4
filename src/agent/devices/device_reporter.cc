#include "agent/devices/device_reporter.h"

#include <algorithm>

#include "agent/devices/nvml.h"
#include "agent/devices/rdma.h"
#include "agent/devices/xpu.h"
#include "api/wire/names.h"
#include "api/wire/write.h"
#include "base/os/log.h"

namespace mangrove::agent {
namespace {

const Logger log("agent");

const api::DeviceInfo* findDevice(const std::vector<api::DeviceInfo>& devices,
                                  const api::DeviceInfo& like) {
  const auto it = std::find_if(devices.begin(), devices.end(), [&](const api::DeviceInfo& one) {
    return one.type == like.type && one.minor == like.minor && one.id == like.id;
  });
  return it == devices.end() ? nullptr : &*it;
}

json::Object asObject(const std::map<std::string, std::string>& values) {
  json::Object out;
  for (const auto& [key, value] : values) out[key] = value;
  return out;
}

// Differences of labels or annotations; keys that are ours and not wanted any more go.
template <class Present>
json::Object differences(const Present& present, const std::map<std::string, std::string>& want,
                         std::initializer_list<std::string_view> ours) {
  json::Object out;
  for (const auto& [key, value] : want)
    if (present.get(key) != std::string_view(value)) out[key] = value;
  for (std::string_view key : ours)
    if (present.has(key) && !want.contains(std::string(key))) out[key] = nullptr;
  return out;
}

}  // namespace

std::vector<api::DeviceInfo> withTransitions(std::vector<api::DeviceInfo> want,
                                             const std::vector<api::DeviceInfo>& present,
                                             WallTime now) {
  for (api::DeviceInfo& device : want) {
    const api::DeviceInfo* old = findDevice(present, device);
    for (api::Condition& condition : device.conditions) {
      const api::Condition* before =
          old != nullptr ? api::findCondition(old->conditions, condition.type.view()) : nullptr;
      const bool same = before != nullptr && before->status == condition.status;
      condition.lastTransitionTime = same ? before->lastTransitionTime : now;
    }
  }
  return want;
}

std::optional<json::Value> devicePatch(const api::Device& object, const Inventory& want,
                                       WallTime now) {
  const auto devices = withTransitions(want.devices, object.spec.devices, now);
  json::Object meta, patch;
  json::Object labels =
      differences(object.meta.labels, want.labels,
                  {api::label::kGpuVendor, api::label::kGpuModel, api::label::kGpuDriverVersion,
                   api::label::kGpuPartitionPolicy});
  json::Object annotations =
      differences(object.meta.annotations, want.annotations, {api::annotation::kGpuPartitions});
  if (!labels.empty()) meta["labels"] = std::move(labels);
  if (!annotations.empty()) meta["annotations"] = std::move(annotations);
  if (!meta.empty()) patch["metadata"] = std::move(meta);
  if (devices != object.spec.devices)
    patch["spec"] = json::Object{{"devices", api::toJson(devices)}};
  if (patch.empty()) return std::nullopt;
  return patch;
}

json::Value newDevice(const std::string& name, const api::Node& node, const Inventory& want,
                      WallTime now) {
  json::Object owner{
      {"apiVersion", "v1"},         {"kind", "Node"},     {"name", node.meta.name.view()},
      {"uid", node.meta.uid.str()}, {"controller", true}, {"blockOwnerDeletion", true}};
  return json::Object{
      {"apiVersion", api::kind::kDevice.apiVersion()},
      {"kind", "Device"},
      {"metadata", json::Object{{"name", name},
                                {"labels", asObject(want.labels)},
                                {"annotations", asObject(want.annotations)},
                                {"ownerReferences", json::Array{std::move(owner)}}}},
      {"spec", json::Object{{"devices", api::toJson(withTransitions(want.devices, {}, now))}}}};
}

DeviceReporter::DeviceReporter(client::ApiClient& client, Mailbox& owner, const std::string& node,
                               DeviceOptions options)
    : writer_(client, owner, client::kind::kDevice, node), options_(std::move(options)) {}

// Files about accelerators go before NVIDIA's library.
Inventory DeviceReporter::lookAround(const Machine& machine) {
  ++stats_.looks;
  if (options_.accelerators) {
    auto xpus = readXpuFiles(machine.root(), options_.xpuDir);
    if (!xpus) {
      ++stats_.failedLooks;
      if (std::exchange(lastTrouble_, xpus.error().text()) != lastTrouble_)
        log.warn("accelerators stay as they were: {}", lastTrouble_);
    } else if (!xpus->empty() || options_.xpuOnly) {
      accelerators_ = xpuInventory(*xpus);
    } else {
      accelerators_ = gpuInventory(readGpus(machine, lastLook_));
    }
  }
  const Inventory rdma =
      options_.rdma ? rdmaInventory(machine.root(), machine.mounts()) : Inventory{};
  return merged(accelerators_, rdma);
}

void DeviceReporter::tick(const Look& look, const api::Node* node, bool synced) {
  if (!options_.any() || node == nullptr || !synced || writer_.isBusy()) return;
  if (lastLook_ != MonoTime::min() && look.at - lastLook_ < options_.interval) return;
  lastLook_ = look.at;
  const Inventory want = lookAround(*look.machine);
  if (!object_) {
    if (want.devices.empty()) return;
    return writer_.create(newDevice(writer_.name(), *node, want, look.wall),
                          counting(stats_.created));
  }
  if (auto patch = devicePatch(*object_, want, look.wall))
    writer_.patch(*patch, counting(stats_.patched));
}

SoleWriter::Told DeviceReporter::counting(uint64_t& counter) {
  return [this, &counter](bool taken) { ++(taken ? counter : stats_.failed); };
}

}  // namespace mangrove::agent
