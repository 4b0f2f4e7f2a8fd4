#include "agent/qos/cpu_burst/pools.h"

#include <algorithm>

#include "api/pod/pod_requests.h"
#include "api/wire/names.h"

namespace mangrove::agent {
namespace {

using api::Qos;

constexpr int kMostNodes = 64;

NodeMask bitOf(int node) {
  return node >= 0 && node < kMostNodes ? NodeMask{1} << node : 0;
}

// How many of the set's CPUs each node has, as shares of one; of no set: of all CPUs.
std::map<int, double> sharesOf(std::span<const kernel::LogicalCpu> cpus, const CpuSet& set) {
  std::map<int, double> out;
  double all = 0;
  for (const kernel::LogicalCpu& cpu : cpus) {
    if (!set.empty() && !set.contains(cpu.id)) continue;
    out[cpu.node] += 1;
    all += 1;
  }
  if (all == 0) return set.empty() ? out : sharesOf(cpus, CpuSet());
  for (auto& [node, share] : out) share /= all;
  return out;
}

void takeOff(const PoolUser& user, const std::map<int, double>& shares,
             std::vector<NumaPool>& pools) {
  const Qos qos = api::rawQos(user.pod->meta.labels);
  const bool isOwner = hasOwnCpus(qos);
  if (!isOwner && qos != Qos::kBe) return;
  const double request =
      isOwner ? static_cast<double>(api::podRequests(*user.pod).cpu().v) / 1000 : 0;
  for (NumaPool& pool : pools) {
    const auto share = shares.find(pool.node);
    if (share == shares.end()) continue;
    pool.total -= request * share->second;
    if (pool.used) *pool.used -= user.usedCores.value_or(0) * share->second;
  }
}

}  // namespace

std::vector<NumaPool> numaPools(std::span<const kernel::LogicalCpu> cpus,
                                const std::map<int, double>& usedByNode,
                                std::span<const PoolUser> pods) {
  std::map<int, double> counts;
  for (const kernel::LogicalCpu& cpu : cpus) counts[cpu.node] += 1;
  std::vector<NumaPool> pools;
  for (const auto& [node, count] : counts) {
    const auto used = usedByNode.find(node);
    pools.push_back(
        {node, count, used == usedByNode.end() ? std::nullopt : std::optional(used->second)});
  }
  for (const PoolUser& one : pods) takeOff(one, sharesOf(cpus, one.cpus), pools);
  return pools;
}

NodeMask nodesOf(std::span<const kernel::LogicalCpu> cpus, const CpuSet& set) {
  NodeMask out = 0, all = 0;
  for (const kernel::LogicalCpu& cpu : cpus) {
    all |= bitOf(cpu.node);
    if (set.contains(cpu.id)) out |= bitOf(cpu.node);
  }
  return out == 0 ? all : out;
}

PoolState poolStateOf(std::span<const NumaPool> pools, NodeMask nodes, int64_t thresholdPercent) {
  double used = 0, total = 0;
  bool any = false;
  for (const NumaPool& pool : pools) {
    if ((bitOf(pool.node) & nodes) == 0) continue;
    if (!pool.used) return PoolState::kUnknown;
    used += *pool.used;
    total += pool.total;
    any = true;
  }
  return any ? poolState(used, total, thresholdPercent) : PoolState::kUnknown;
}

ShrinkOrder shrinkOrder(const api::Pod& pod) {
  const bool isService = api::rawQos(pod.meta.labels) == Qos::kLs;
  const bool states = isService && pod.meta.annotations.has(api::annotation::kCpuBurst);
  return {states ? 2 : isService ? 1 : 0, pod.spec->priority.value_or(0)};
}

std::vector<PoolState> inShrinkOrder(std::span<const PoolMember> members) {
  std::map<int, ShrinkOrder> first;  // by node: who is boosted there and comes first
  for (const PoolMember& one : members) {
    if (!one.boosted) continue;
    for (int node = 0; node < kMostNodes; ++node) {
      if ((bitOf(node) & one.nodes) == 0) continue;
      auto [at, isNew] = first.emplace(node, one.order);
      if (!isNew) at->second = std::min(at->second, one.order);
    }
  }
  std::vector<PoolState> out;
  for (const PoolMember& one : members) {
    const bool waits = std::any_of(first.begin(), first.end(), [&](const auto& at) {
      return (bitOf(at.first) & one.nodes) != 0 && at.second < one.order;
    });
    out.push_back(one.state == PoolState::kOverload && waits ? PoolState::kCooling : one.state);
  }
  return out;
}

}  // namespace mangrove::agent
