#include "runtime/core/storage_limits.h"

#include <fmt/core.h>

#include "api/wire/names.h"

namespace mangrove::runtime {

namespace {

// Of directories on disk; those in memory are limited by their file system.
const Quantity* limitOf(const api::RunVolume& volume) {
  const bool onDisk = volume.kind == api::RunVolume::Kind::kEmptyDir && volume.source != "Memory";
  const bool limited = onDisk && volume.sizeLimit && volume.sizeLimit->value() > 0;
  return limited ? &*volume.sizeLimit : nullptr;
}

int64_t usedBy(const std::map<std::string, int64_t, std::less<>>& use, std::string_view name) {
  const auto found = use.find(name);
  return found == use.end() ? 0 : found->second;
}

}  // namespace

bool hasStorageLimits(const RunPod& pod) {
  for (const auto& volume : pod.run.volumes)
    if (limitOf(volume)) return true;
  for (const auto& one : containersOf(pod))
    if (one.spec->limits.has(api::resource::kEphemeralStorage)) return true;
  return false;
}

std::optional<std::string> storageTrouble(const RunPod& pod, const StorageUse& use) {
  int64_t all = 0, allowed = 0;
  bool everyone = true;
  for (const auto& volume : pod.run.volumes) {
    const int64_t used = usedBy(use.volumes, volume.name);
    all += used;
    if (const Quantity* limit = limitOf(volume); limit && used > limit->value())
      return fmt::format("Usage of EmptyDir volume \"{}\" exceeds the limit \"{}\". ", volume.name,
                         limit->text());
  }
  for (const auto& one : containersOf(pod)) {
    if (one.role == ContainerRole::kEphemeral) continue;
    const int64_t used = usedBy(use.containers, one.name());
    all += used;
    const Quantity* limit = one.spec->limits.find(api::resource::kEphemeralStorage);
    if (limit && used > limit->value())
      return fmt::format("Container {} exceeded its local ephemeral storage limit \"{}\". ",
                         one.name(), limit->text());
    if (one.role == ContainerRole::kInit) continue;
    everyone = everyone && limit;
    if (limit) allowed += limit->value();
  }
  // Containers may write into the pod's volumes instead; together they have what they were given.
  if (everyone && allowed > 0 && all > allowed)
    return fmt::format(
        "Pod ephemeral local storage usage exceeds the total limit of containers {}. ", allowed);
  return std::nullopt;
}

}  // namespace mangrove::runtime
