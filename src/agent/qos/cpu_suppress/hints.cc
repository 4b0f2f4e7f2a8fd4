#include "agent/qos/cpu_suppress/hints.h"

#include <cmath>
#include <cstdint>

namespace mangrove::agent {
namespace {

constexpr double kWorthMoving = 0.2;  // of the whole
constexpr double kLoud = 0.1, kQuiet = 0.05;

double shareOf(const NodeShares& shares, int node) {
  const auto found = shares.find(node);
  return found == shares.end() ? 0 : found->second;
}

bool isFar(const NodeShares& a, const NodeShares& b) {
  for (const auto& [node, share] : a)
    if (std::abs(share - shareOf(b, node)) > kWorthMoving) return true;
  return false;
}

}  // namespace

NodeShares memoryShares(const kernel::NumaStat& stat) {
  double all = 0;
  for (size_t i = 0; i < stat.count; ++i) all += static_cast<double>(stat.nodes[i].anon.v);
  if (all <= 0 || stat.count < 2) return {};
  NodeShares out;
  bool lopsided = false;
  for (size_t i = 0; i < stat.count; ++i) {
    const double share = static_cast<double>(stat.nodes[i].anon.v) / all;
    out[static_cast<int>(i)] = share;
    lopsided |= std::abs(share - 1 / static_cast<double>(stat.count)) > kWorthMoving;
  }
  return lopsided ? out : NodeShares{};
}

NodeShares steadyShares(const NodeShares& before, const NodeShares& now) {
  if (before.empty() || now.empty()) return now;
  return isFar(before, now) || isFar(now, before) ? now : before;
}

std::map<int, double> interruptShares(const std::map<int, kernel::InterruptTicks>& before,
                                      const std::map<int, kernel::InterruptTicks>& now) {
  std::map<int, double> out;
  for (const auto& [cpu, ticks] : now) {
    const auto old = before.find(cpu);
    if (old == before.end() || ticks.all <= old->second.all) continue;
    if (ticks.interrupts < old->second.interrupts) continue;
    out[cpu] = static_cast<double>(ticks.interrupts - old->second.interrupts) /
               static_cast<double>(ticks.all - old->second.all);
  }
  return out;
}

CpuSet loudCpus(const CpuSet& before, const std::map<int, double>& shares, const CpuSet& present) {
  CpuSet out = before;
  for (const auto& [cpu, share] : shares) {
    if (present.contains(cpu)) continue;
    if (share >= kLoud) out.add(cpu);
    if (share < kQuiet) out.remove(cpu);
  }
  return out;
}

}  // namespace mangrove::agent
