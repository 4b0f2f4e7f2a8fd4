#include "kernel/resctrl_mon.h"

#include "kernel/scan.h"

namespace mangrove::kernel {
namespace {

std::optional<File> optionalFile(const SysRoot& root, const std::string& path) {
  auto file = root.open(path, Access::kRead);
  if (!file) return std::nullopt;
  return *std::move(file);
}

std::optional<uint64_t> numberIn(const std::optional<File>& file) {
  char buffer[64];
  if (!file) return std::nullopt;
  auto size = file->read(buffer);
  // Without its line end a number may have lost digits.
  if (!size || *size == 0 || buffer[*size - 1] != '\n') return std::nullopt;
  return parseOnly<uint64_t>({buffer, *size});
}

}  // namespace

std::optional<int> cacheIdOf(std::string_view name) {
  constexpr std::string_view kPrefix = "mon_L3_";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const auto id = parseInt<int>(name.substr(kPrefix.size()));
  return id && *id >= 0 ? id : std::nullopt;
}

Result<std::optional<ResctrlMonitor>> ResctrlMonitor::open(const SysRoot& root,
                                                           const Mounts& mounts,
                                                           std::string_view group) {
  const std::string dir = joinPath({mounts.resctrl, group, "mon_data"});
  auto there = root.exists(dir);
  if (!there) return there.error().in("resctrl group {}", group);
  if (!*there) return std::nullopt;
  auto entries = root.list(dir);
  if (!entries) return entries.error().in("resctrl group {}", group);
  ResctrlMonitor monitor;
  for (const Entry& entry : *entries) {
    const auto id = cacheIdOf(entry.name);
    if (!id) continue;
    const auto file = [&](const char* name) {
      return optionalFile(root, joinPath({dir, entry.name, name}));
    };
    monitor.caches_.push_back(
        {*id, file("llc_occupancy"), file("mbm_local_bytes"), file("mbm_total_bytes")});
  }
  return monitor;
}

CacheSample ResctrlMonitor::sample(const Cache& cache) {
  return {cache.id, numberIn(cache.llc), numberIn(cache.local), numberIn(cache.total)};
}

}  // namespace mangrove::kernel
