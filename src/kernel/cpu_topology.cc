#include "kernel/cpu_topology.h"

#include <algorithm>
#include <map>
#include <set>

#include "kernel/cpu_info.h"
#include "kernel/read_text.h"
#include "kernel/scan.h"

namespace mangrove::kernel {
namespace {

constexpr int kMaxCacheIndex = 8;

Result<CpuSet> readCpuList(const SysRoot& root, const std::string& path) {
  const auto text = readText(root, path);
  if (!text || !*text) return fail(Code::kNotFound, "no {}", path);
  // The kernel ends a list with a line end: without it "0-1" may be the beginning of "0-15".
  if (!(*text)->ends_with('\n')) return invalid("{}: '{}' is cut off", path, **text);
  auto set = CpuSet::parse(trim(**text));
  if (!set) return set.error().in("{}", path);
  return set;
}

// CPU → NUMA node, by the nodes' own lists; machines without NUMA have none.
std::map<int, int> nodesOfCpus(const SysRoot& root, const Mounts& mounts) {
  std::map<int, int> nodes;
  const std::string dir = mounts.sysFile("devices/system/node");
  auto entries = root.list(dir);
  if (!entries) return nodes;
  for (const Entry& entry : *entries) {
    if (!entry.name.starts_with("node")) continue;
    const auto id = parseInt<int>(std::string_view(entry.name).substr(4));
    if (!id || *id < 0) continue;
    auto cpus = readCpuList(root, joinPath({dir, entry.name, "cpulist"}));
    if (!cpus) continue;
    for (int cpu : *cpus) nodes[cpu] = *id;
  }
  return nodes;
}

void readCaches(const SysRoot& root, const std::string& dir, LogicalCpu& cpu) {
  for (int i = 0; i < kMaxCacheIndex; ++i) {
    const std::string index = joinPath({dir, "cache", fmt::format("index{}", i)});
    const auto level = readNumber(root, joinPath({index, "level"}));
    if (!level) return;
    if (*level == 3)
      cpu.l3 = static_cast<int>(readNumber(root, joinPath({index, "id"})).value_or(0));
    if (*level != 2) continue;
    auto shared = readCpuList(root, joinPath({index, "shared_cpu_list"}));
    if (shared && !shared->empty()) cpu.l2 = shared->first();
  }
}

// Numbers things in the order in which they are first met.
template <class Key>
class Counter {
 public:
  int of(const Key& key) {
    return seen_.emplace(key, static_cast<int>(seen_.size())).first->second;
  }

 private:
  std::map<Key, int> seen_;
};

}  // namespace

Result<CpuTopology> readCpuTopology(const SysRoot& root, const Mounts& mounts) {
  const std::string base = mounts.sysFile("devices/system/cpu");
  auto online = readCpuList(root, joinPath({base, "online"}));
  if (!online) return online.error().in("online CPUs");
  const auto nodes = nodesOfCpus(root, mounts);
  CpuTopology topology;
  Counter<int> sockets;
  Counter<std::pair<int, int>> cores;
  for (int id : *online) {
    const std::string dir = joinPath({base, fmt::format("cpu{}", id)});
    const auto core = readNumber(root, joinPath({dir, "topology/core_id"}));
    const auto package = readNumber(root, joinPath({dir, "topology/physical_package_id"}));
    if (!core || !package) {
      ++topology.placeless;
      continue;
    }
    LogicalCpu cpu{.id = id, .l2 = id};
    // Some ARM and virtual machines say -1 for "the only socket".
    cpu.socket = sockets.of(static_cast<int>(std::max<int64_t>(*package, 0)));
    cpu.core = cores.of({cpu.socket, static_cast<int>(*core)});
    if (auto it = nodes.find(id); it != nodes.end()) cpu.node = it->second;
    readCaches(root, dir, cpu);
    topology.cpus.push_back(cpu);
    topology.online.add(id);
  }
  if (topology.cpus.empty())
    return fail(Code::kNotFound, "{}: no CPU says which core and socket it is on", base);
  auto possible = readCpuList(root, joinPath({base, "possible"}));
  topology.possible = static_cast<int>(possible ? possible->size() : topology.cpus.size());
  return topology;
}

const LogicalCpu* CpuTopology::find(int cpu) const {
  auto it = std::lower_bound(cpus.begin(), cpus.end(), cpu,
                             [](const LogicalCpu& a, int id) { return a.id < id; });
  return it != cpus.end() && it->id == cpu ? &*it : nullptr;
}

CpuSet CpuTopology::siblingsOf(int cpu) const {
  CpuSet out;
  const LogicalCpu* self = find(cpu);
  for (const LogicalCpu& one : cpus)
    if (self != nullptr && one.core == self->core) out.add(one.id);
  return out;
}

CpuSet CpuTopology::cpusOfNode(int node) const {
  CpuSet out;
  for (const LogicalCpu& one : cpus)
    if (one.node == node) out.add(one.id);
  return out;
}

std::vector<int> CpuTopology::numaNodes() const {
  std::set<int> nodes;
  for (const LogicalCpu& one : cpus) nodes.insert(one.node);
  return {nodes.begin(), nodes.end()};
}

size_t CpuTopology::coreCount() const {
  std::set<int> ids;
  for (const LogicalCpu& one : cpus) ids.insert(one.core);
  return ids.size();
}

size_t CpuTopology::socketCount() const {
  std::set<int> ids;
  for (const LogicalCpu& one : cpus) ids.insert(one.socket);
  return ids.size();
}

CpuBasics readCpuBasics(const SysRoot& root, const Mounts& mounts, const CpuTopology& topology) {
  CpuBasics basics;
  if (auto text = readText(root, mounts.procFile("cpuinfo")); text && *text) {
    const CpuInfoText info = parseCpuInfo(**text);
    basics.model = info.modelName;
    basics.vendor = info.vendor;
  }
  const auto smt = readNumber(root, mounts.sysFile("devices/system/cpu/smt/active"));
  basics.smt = smt ? *smt == 1 : topology.cpus.size() > topology.coreCount();
  basics.turbo = readNumber(root, mounts.sysFile("devices/system/cpu/intel_pstate/no_turbo")) == 0;
  basics.l3Mask = readWord(root, joinPath({mounts.resctrl, "info/L3/cbm_mask"})).value_or("");
  return basics;
}

}  // namespace mangrove::kernel
