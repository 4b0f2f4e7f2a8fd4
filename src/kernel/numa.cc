#include "kernel/numa.h"

#include <algorithm>

#include "base/text/strings.h"
#include "kernel/read_text.h"

namespace mangrove::kernel {
namespace {

std::string nodeDir(const Mounts& mounts, int node) {
  return mounts.sysFile(fmt::format("bus/node/devices/node{}", node));
}

}  // namespace

Result<std::vector<int>> numaIdsOf(const std::vector<std::string>& names,
                                   std::string_view genericInitiators) {
  auto skipped = CpuSet::parse(trim(genericInitiators));
  if (!skipped) return skipped.error().in("has_generic_initiator");
  std::vector<int> ids;
  for (const std::string& name : names) {
    if (!name.starts_with("node")) continue;
    const auto id = parseInt<int>(std::string_view(name).substr(4));
    if (id && *id >= 0 && *id <= CpuSet::kMaxCpu && !skipped->contains(*id)) ids.push_back(*id);
  }
  std::sort(ids.begin(), ids.end());
  for (size_t i = 0; i < ids.size(); ++i)
    if (ids[i] != static_cast<int>(i))
      return invalid("NUMA node {} is missing: found {} nodes up to {}", i, ids.size(), ids.back());
  return ids;
}

Result<std::vector<int>> numaIds(const SysRoot& root, const Mounts& mounts) {
  auto entries = root.list(mounts.sysFile("bus/node/devices"));
  if (!entries) return entries.error().in("NUMA nodes");
  std::vector<std::string> names;
  for (const Entry& entry : *entries) names.push_back(entry.name);
  const auto initiators =
      readWord(root, mounts.sysFile("devices/system/node/has_generic_initiator"));
  return numaIdsOf(names, initiators.value_or(""));
}

std::string numaMemInfoPath(const Mounts& mounts, int node) {
  return joinPath({nodeDir(mounts, node), "meminfo"});
}

Bytes HugePages::total() const {
  return kMiB * 2 * pages2Mi + kGiB * pages1Gi;
}

HugePages readHugePages(const SysRoot& root, const Mounts& mounts, int node) {
  const auto count = [&](const char* size) {
    const auto n =
        readNumber(root, joinPath({nodeDir(mounts, node), "hugepages",
                                   fmt::format("hugepages-{}kB", size), "nr_hugepages"}));
    return std::max<int64_t>(n.value_or(0), 0);
  };
  return {count("2048"), count("1048576")};
}

}  // namespace mangrove::kernel
