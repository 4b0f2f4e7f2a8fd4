#include "agent/nri/rdma_nodes.h"

#include "api/annotations/device.h"
#include "base/text/strings.h"
#include "kernel/read_text.h"

namespace mangrove::agent {
namespace {

constexpr std::string_view kFolder = "/dev/infiniband/";

// "231:192"
std::optional<NriDevice> nodeOf(const kernel::SysRoot& root, const std::string& dir,
                                std::string_view name) {
  const std::string text = kernel::readWord(root, kernel::joinPath({dir, "dev"})).value_or("");
  const Halves numbers = cut(text, ':');
  const auto major = parseInt<int64_t>(numbers.before), minor = parseInt<int64_t>(numbers.after);
  if (!major || !minor) return std::nullopt;
  return NriDevice{std::string(kFolder) + std::string(name), *major, *minor};
}

}  // namespace

RdmaNodes rdmaNodes(const kernel::SysRoot& root, const kernel::Mounts& mounts) {
  RdmaNodes out;
  out.manager = nodeOf(root, mounts.sysFile("class/misc/rdma_cm"), "rdma_cm");
  const std::string verbs = mounts.sysFile("class/infiniband_verbs");
  auto entries = root.list(verbs);
  if (!entries) return out;
  for (const kernel::Entry& entry : *entries) {
    if (!entry.name.starts_with("uverbs")) continue;
    const std::string dir = kernel::joinPath({verbs, entry.name});
    const auto link = root.readLink(kernel::joinPath({dir, "device"}));
    const auto node = nodeOf(root, dir, entry.name);
    if (link && node) out.verbs[link->substr(link->rfind('/') + 1)].push_back(*node);
  }
  return out;
}

std::vector<NriDevice> rdmaDevices(const RdmaNodes& nodes, const api::Annotations& pod) {
  std::vector<NriDevice> out;
  auto allocated = api::parseDeviceAllocations(pod);
  if (!allocated || !*allocated) return out;
  const auto list = (*allocated)->find("rdma");
  if (list == (*allocated)->end()) return out;
  const auto add = [&](const std::string& address) {
    const auto found = nodes.verbs.find(address);
    if (found == nodes.verbs.end()) return;
    out.insert(out.end(), found->second.begin(), found->second.end());
  };
  for (const api::DeviceAllocation& one : list->second) {
    if (one.extension && !one.extension->vfs.empty())
      for (const api::AllocatedFunction& function : one.extension->vfs) add(function.busId);
    else
      add(one.id);
  }
  if (!out.empty() && nodes.manager) out.insert(out.begin(), *nodes.manager);
  return out;
}

}  // namespace mangrove::agent
