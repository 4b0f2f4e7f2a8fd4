#include "agent/devices/rdma.h"

#include <algorithm>

#include "api/wire/names.h"
#include "base/text/strings.h"
#include "kernel/read_text.h"

namespace mangrove::agent {
namespace {

constexpr int kPerDevice = 100;

class Pci {
 public:
  Pci(const kernel::SysRoot& root, std::string dir) : root_(root), dir_(std::move(dir)) {}

  std::string file(std::string_view bdf, std::string_view name) const {
    return kernel::joinPath({dir_, bdf, name});
  }
  std::vector<std::string> list(const std::string& path) const {
    std::vector<std::string> names;
    if (auto entries = root_.list(path))
      for (const kernel::Entry& entry : *entries) names.push_back(entry.name);
    return names;
  }
  // Network controllers have class 0x02….
  bool isNetwork(std::string_view bdf) const {
    const auto kind = kernel::readWord(root_, file(bdf, "class"));
    return kind && kind->starts_with("0x02");
  }
  bool isVirtual(std::string_view bdf) const {
    return root_.exists(file(bdf, "physfn")).value_or(false) ||
           root_.readLink(file(bdf, "physfn")).has_value();
  }
  api::DeviceTopology topology(std::string_view bdf) const {
    const auto link = root_.readLink(kernel::joinPath({dir_, bdf}));
    return {-1, numaNodeOf(kernel::readWord(root_, file(bdf, "numa_node")).value_or("")),
            pcieIdOf(link.value_or("")), std::string(bdf)};
  }
  bool allPortsActive(std::string_view bdf, const std::string& ib) const {
    const std::string ports = file(bdf, "infiniband/" + ib + "/ports");
    const auto names = list(ports);
    return !names.empty() && std::all_of(names.begin(), names.end(), [&](const std::string& port) {
      return isActivePort(
          kernel::readWord(root_, kernel::joinPath({ports, port, "state"})).value_or(""));
    });
  }
  std::vector<api::VirtualFunction> virtualFunctions(std::string_view bdf) const {
    std::vector<api::VirtualFunction> out;
    if (kernel::readNumber(root_, file(bdf, "sriov_numvfs")).value_or(0) <= 0) return out;
    for (const std::string& name : list(kernel::joinPath({dir_, bdf}))) {
      if (!name.starts_with("virtfn")) continue;
      const auto link = root_.readLink(file(bdf, name));
      if (link) out.push_back({-1, link->substr(link->rfind('/') + 1)});
    }
    std::sort(out.begin(), out.end(),
              [](const auto& a, const auto& b) { return a.busId < b.busId; });
    return out;
  }

 private:
  const kernel::SysRoot& root_;
  std::string dir_;
};

api::DeviceInfo infoOf(const Pci& pci, const std::string& bdf, const std::string& ib,
                       int32_t minor) {
  api::DeviceInfo info;
  info.type = Interned(kTypeRdma);
  info.id = bdf;
  info.minor = minor;
  info.health = pci.allPortsActive(bdf, ib);
  info.resources.set(api::resource::kRdma, Quantity::of(kPerDevice));
  info.topology = pci.topology(bdf);
  if (auto vfs = pci.virtualFunctions(bdf); !vfs.empty())
    info.vfGroups.push_back({{}, std::move(vfs)});
  return info;
}

}  // namespace

std::optional<int32_t> rdmaMinorOf(std::string_view ibDevice) {
  if (!ibDevice.starts_with("mlx")) return std::nullopt;
  const size_t at = ibDevice.rfind('_');
  if (at == std::string_view::npos) return std::nullopt;
  const auto minor = parseInt<int32_t>(ibDevice.substr(at + 1));
  return minor && *minor >= 0 ? minor : std::nullopt;
}

bool isActivePort(std::string_view state) {
  return state.find("ACTIVE") != std::string_view::npos;
}

Inventory rdmaInventory(const kernel::SysRoot& root, const kernel::Mounts& mounts) {
  Inventory out;
  const std::string dir = mounts.sysFile("bus/pci/devices");
  const Pci pci(root, dir);
  for (const std::string& bdf : pci.list(dir)) {
    if (!pci.isNetwork(bdf) || pci.isVirtual(bdf)) continue;
    const auto names = pci.list(pci.file(bdf, "infiniband"));
    const auto minor = names.empty() ? std::nullopt : rdmaMinorOf(names.front());
    if (minor) out.devices.push_back(infoOf(pci, bdf, names.front(), *minor));
  }
  return merged(std::move(out), {});
}

}  // namespace mangrove::agent
