#include "placement/plugins/numa/topology.h"

#include <algorithm>
#include <set>

namespace mangrove::placement {

CpuLayout CpuLayout::of(const std::vector<api::CpuInfo>& detail) {
  CpuLayout out;
  std::set<int> cores, nodes, sockets;
  for (const auto& info : detail) {
    if (info.id < 0 || info.id > CpuSet::kMaxCpu || out.all_.contains(info.id)) continue;
    const Cpu cpu{info.id, info.socket << 16 | info.core, info.node, info.socket};
    out.cpus_.push_back(cpu);
    out.all_.add(cpu.id);
    cores.insert(cpu.core);
    nodes.insert(cpu.node);
    sockets.insert(cpu.socket);
  }
  std::sort(out.cpus_.begin(), out.cpus_.end(), [](auto& a, auto& b) { return a.id < b.id; });
  if (out.cpus_.empty()) return out;
  out.at_.assign(static_cast<size_t>(out.cpus_.back().id) + 1, kNone);
  for (size_t i = 0; i < out.cpus_.size(); i++)
    out.at_[static_cast<size_t>(out.cpus_[i].id)] = static_cast<uint32_t>(i);
  const auto count = out.cpus_.size();
  out.perCore_ = static_cast<int>(count / cores.size());
  out.perNode_ = static_cast<int>(count / nodes.size());
  out.perSocket_ = static_cast<int>(count / sockets.size());
  return out;
}

CpuSet CpuLayout::onNode(int node) const {
  CpuSet out;
  for (const Cpu& cpu : cpus_)
    if (cpu.node == node) out.add(cpu.id);
  return out;
}

}  // namespace mangrove::placement
