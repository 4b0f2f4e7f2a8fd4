#include "agent/qos/picture.h"

#include <sys/statvfs.h>

namespace mangrove::agent {

void Picture::renew() {
  values_.clear();
  members_.clear();
  texts_.clear();
  reads_ = 0;
}

// Names of files are constants of resource_names.h: their text outlives the map.
std::optional<FileValue> Picture::present(std::string_view cgroup,
                                          std::string_view resource) const {
  const auto [at, isNew] = values_.try_emplace({std::string(cgroup), resource});
  if (!isNew) return at->second;
  ++reads_;
  return at->second = reader_.present({std::string(cgroup), resource, ""});
}

std::vector<int> Picture::members(std::string_view cgroup, std::string_view resource) const {
  const auto [at, isNew] = members_.try_emplace({std::string(cgroup), resource});
  if (!isNew) return at->second;
  ++reads_;
  return at->second = reader_.members(cgroup, resource);
}

std::optional<std::string> Picture::text(std::string_view path) const {
  const auto [at, isNew] = texts_.try_emplace(std::string(path));
  if (!isNew) return at->second;
  ++reads_;
  return at->second = reader_.text(path);
}

bool Picture::hasFolder(std::string_view path) const {
  return machine_.root().exists(std::string(path)).value_or(false);
}

std::optional<DiskUse> Picture::disk() const {
  struct statvfs found {};
  if (diskPath_.empty() || ::statvfs(diskPath_.c_str(), &found) != 0 || found.f_blocks == 0)
    return std::nullopt;
  const auto used = [](auto total, auto free) {
    return total == 0 ? 0.0 : 100 - static_cast<double>(free) * 100 / static_cast<double>(total);
  };
  return DiskUse{used(found.f_blocks, found.f_bavail), used(found.f_files, found.f_favail)};
}

}  // namespace mangrove::agent
