#include "placement/plugins/numa/accumulator.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace mangrove::placement {

namespace {

using Cpus = std::vector<int>;

// One run: what is still free, what has been picked. Lists are made when a step begins to walk
// them.
class Run {
 public:
  Run(const CpuBooks& books, const CpuSet& available, const CpuWish& wish)
      : books_(books), layout_(books.layout()), wish_(wish), free_(available), need_(wish.need) {
    for (const auto& cpu : layout_.cpus()) {
      if (wish.exclusive == Exclusive::kPcpuLevel && books.coreIsExclusive(cpu.core))
        aloneCores_.insert(cpu.core);
      if (wish.exclusive == Exclusive::kNumaNodeLevel && books.nodeIsExclusive(cpu.node))
        aloneNodes_.insert(cpu.node);
    }
  }

  Result<CpuSet> pick() {
    if (need_ <= 0) return CpuSet();
    if (static_cast<size_t>(need_) > free_.size())
      return fail(mangrove::Code::kUnavailable, "not enough cpus available to satisfy request");
    const bool whole = wish_.policy == BindPolicy::kFullPcpus || layout_.cpusPerCore() == 1;
    if (whole && wish_.preferOrphans && pickWithOrphans()) return taken_;
    if (whole && pickWholeCores()) return taken_;
    if (wish_.policy != BindPolicy::kFullPcpus && pickTogether()) return taken_;
    for (bool alone : {true, false}) {
      for (int cpu : spread(freeCpus(alone))) {
        if (need_ == 0) break;
        take(cpu);
      }
      if (need_ == 0) return taken_;
    }
    return fail(mangrove::Code::kUnavailable, "failed to allocate cpus");
  }

 private:
  bool has(int cpu) const { return free_.contains(cpu); }
  bool allowed(const CpuLayout::Cpu& cpu, bool alone) const {
    return !alone || (!aloneCores_.contains(cpu.core) && !aloneNodes_.contains(cpu.node));
  }

  void take(int cpu) {
    const auto& info = layout_.cpu(cpu);
    free_.remove(cpu);
    taken_.add(cpu);
    need_--;
    if (wish_.exclusive == Exclusive::kPcpuLevel) aloneCores_.insert(info.core);
    if (wish_.exclusive == Exclusive::kNumaNodeLevel) aloneNodes_.insert(info.node);
  }
  void takeFirst(const Cpus& cpus, int count) {
    for (int i = 0; i < count; i++) take(cpus[static_cast<size_t>(i)]);
  }
  // For sorting: MostAllocated wants the fuller place first.
  int64_t dir(int64_t count) const { return wish_.mostAllocated ? count : -count; }

  int refs(int cpu) const { return books_.maxRefCount() > 1 ? books_.refCount(cpu) : 0; }

  // Free CPUs by NUMA node and by socket, under the filter of a list.
  template <class Keep>
  std::pair<std::map<int, int>, std::map<int, int>> freeCounts(Keep keep) const {
    std::map<int, int> nodes, sockets;
    for (int cpu : free_) {
      const auto& info = layout_.cpu(cpu);
      if (!keep(info)) continue;
      nodes[info.node]++;
      sockets[info.socket]++;
    }
    return {nodes, sockets};
  }

  // ---- whole cores

  // Cores whose CPUs are all free, by `group` (NUMA node or socket), each with its CPUs in order.
  std::map<int, Cpus> wholeCores(bool bySocket, bool alone) const {
    std::map<int, Cpus> cores;
    for (int cpu : free_) cores[layout_.cpu(cpu).core].push_back(cpu);
    std::map<int, std::vector<std::tuple<int, int, Cpus>>> groups;
    for (auto& [core, cpus] : cores) {
      if (static_cast<int>(cpus.size()) < layout_.cpusPerCore()) continue;
      const auto& info = layout_.cpu(cpus[0]);
      if (alone && aloneNodes_.contains(info.node)) continue;
      int sum = 0;
      for (int cpu : cpus) sum += refs(cpu);
      groups[bySocket ? info.socket : info.node].emplace_back(sum, core, cpus);
    }
    std::map<int, Cpus> out;
    for (auto& [group, list] : groups) {
      std::sort(list.begin(), list.end());
      for (const auto& [sum, core, cpus] : list)
        out[group].insert(out[group].end(), cpus.begin(), cpus.end());
    }
    return out;
  }

  std::vector<Cpus> wholeByNode(bool alone) const {
    const auto groups = wholeCores(false, alone);
    const auto counts =
        freeCounts([&](const auto& cpu) { return !alone || !aloneNodes_.contains(cpu.node); });
    std::vector<std::tuple<int64_t, int64_t, int, const Cpus*>> order;
    for (const auto& [node, cpus] : groups) {
      const int socket = layout_.cpu(cpus[0]).socket;
      order.emplace_back(dir(static_cast<int64_t>(cpus.size())), dir(counts.second.at(socket)),
                         node, &cpus);
    }
    return sorted(order);
  }

  std::vector<Cpus> wholeBySocket() const {
    const auto groups = wholeCores(true, false);
    std::vector<std::tuple<int64_t, int, const Cpus*>> order;
    for (const auto& [socket, cpus] : groups)
      order.emplace_back(dir(static_cast<int64_t>(cpus.size())), socket, &cpus);
    return sorted(order);
  }

  template <class Order>
  static std::vector<Cpus> sorted(Order& order) {
    std::sort(order.begin(), order.end());
    std::vector<Cpus> out;
    for (const auto& entry : order)
      out.push_back(*std::get<std::tuple_size_v<typename Order::value_type> - 1>(entry));
    return out;
  }

  bool takeFitting(const std::vector<Cpus>& groups, bool spreads) {
    for (const Cpus& group : groups) {
      if (static_cast<int>(group.size()) < need_) continue;
      takeFirst(spreads ? spread(group) : group, need_);
      return true;
    }
    return false;
  }

  bool pickWholeCores() {
    if (need_ <= layout_.cpusPerNode())
      for (bool alone : {true, false})
        if (takeFitting(wholeByNode(alone), false)) return true;
    if (need_ <= layout_.cpusPerSocket() && takeFitting(wholeBySocket(), false)) return true;
    std::vector<std::pair<int, Cpus>> groups;
    for (auto& [socket, cpus] : wholeCores(true, false)) groups.emplace_back(socket, cpus);
    std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
      return a.second.size() > b.second.size();
    });
    std::vector<std::pair<int, Cpus>> aside;
    for (auto& group : groups) {
      if (static_cast<int>(group.second.size()) > need_) {
        aside.push_back(std::move(group));
        continue;
      }
      for (int cpu : group.second) take(cpu);
    }
    if (need_ >= layout_.cpusPerCore()) takeFromAside(std::move(aside));
    return need_ == 0;
  }

  // Core by core from the smallest socket that was left, until less than a core is missing.
  void takeFromAside(std::vector<std::pair<int, Cpus>> aside) {
    std::sort(aside.begin(), aside.end(), [](const auto& a, const auto& b) {
      return std::pair(a.second.size(), a.first) < std::pair(b.second.size(), b.first);
    });
    const auto perCore = static_cast<size_t>(layout_.cpusPerCore());
    for (const auto& [socket, cpus] : aside)
      for (size_t i = 0; i + perCore <= cpus.size(); i += perCore) {
        if (need_ < layout_.cpusPerCore()) return;
        for (size_t j = i; j < i + perCore; j++) take(cpus[j]);
      }
  }

  // ---- odd numbers

  bool pickWithOrphans() {
    const int odd = need_ % layout_.cpusPerCore();
    if (odd == 0) return false;
    if (need_ <= layout_.cpusPerNode())
      for (bool alone : {true, false})
        if (takeOdd(odd, false, alone)) return true;
    return need_ <= layout_.cpusPerSocket() && takeOdd(odd, true, false);
  }

  // Free threads of cores that are partly taken, by NUMA node or socket; cores with the fewest free
  // ones first.
  std::map<int, Cpus> orphans(bool bySocket, bool alone) const {
    std::map<int, Cpus> cores;
    for (int cpu : free_)
      if (allowed(layout_.cpu(cpu), alone)) cores[layout_.cpu(cpu).core].push_back(cpu);
    std::map<int, std::vector<std::tuple<size_t, int, int>>> places;
    for (const auto& [core, cpus] : cores) {
      if (static_cast<int>(cpus.size()) == layout_.cpusPerCore()) continue;
      int sum = 0;
      for (int cpu : cpus) sum += refs(cpu);
      const auto& info = layout_.cpu(cpus[0]);
      places[bySocket ? info.socket : info.node].emplace_back(cpus.size(), sum, core);
    }
    std::map<int, Cpus> out;
    for (auto& [place, list] : places) {
      std::sort(list.begin(), list.end());
      for (const auto& [left, sum, core] : list)
        for (int cpu : ordered(cores[core], false)) out[place].push_back(cpu);
    }
    return out;
  }

  // From the first place, in the order of whole cores, that has both whole cores and orphans.
  bool takeOdd(int odd, bool bySocket, bool alone) {
    const auto whole = wholeCores(bySocket, alone);
    const auto broken = orphans(bySocket, alone);
    const auto sockets = freeCounts([&](const auto& cpu) {
                           return !alone || !aloneNodes_.contains(cpu.node);
                         }).second;
    const int rest = need_ - odd;
    std::vector<std::tuple<int64_t, int64_t, int>> order;
    for (const auto& [place, cpus] : broken) {
      const auto at = whole.find(place);
      const auto have = at == whole.end() ? int64_t{0} : static_cast<int64_t>(at->second.size());
      if (static_cast<int>(cpus.size()) < odd || have < rest) continue;
      order.emplace_back(dir(have), bySocket ? 0 : dir(sockets.at(layout_.cpu(cpus[0]).socket)),
                         place);
    }
    if (order.empty()) return false;
    const int place = std::get<2>(*std::min_element(order.begin(), order.end()));
    if (rest > 0) takeFirst(whole.at(place), rest);
    takeFirst(broken.at(place), odd);
    return true;
  }

  // ---- single CPUs

  bool pickTogether() {
    if (need_ <= layout_.cpusPerNode())
      for (bool alone : {true, false})
        if (takeFitting(cpusByNode(alone), true)) return true;
    if (need_ <= layout_.cpusPerSocket())
      for (bool alone : {true, false})
        if (takeFitting(cpusBySocket(alone), true)) return true;
    return false;
  }

  // CPUs of one place in order; under `alone` only the first of each core.
  Cpus ordered(Cpus cpus, bool alone) const {
    std::sort(cpus.begin(), cpus.end(),
              [&](int a, int b) { return std::pair(refs(a), a) < std::pair(refs(b), b); });
    if (!alone) return cpus;
    Cpus out;
    std::set<int> cores;
    for (int cpu : cpus)
      if (cores.insert(layout_.cpu(cpu).core).second) out.push_back(cpu);
    return out;
  }

  std::vector<Cpus> cpusByNode(bool alone) const {
    const auto keep = [&](const CpuLayout::Cpu& cpu) { return allowed(cpu, alone); };
    std::map<int, Cpus> groups;
    for (int cpu : free_)
      if (keep(layout_.cpu(cpu))) groups[layout_.cpu(cpu).node].push_back(cpu);
    const auto [nodes, sockets] = freeCounts(keep);
    for (auto& [node, cpus] : groups) cpus = ordered(std::move(cpus), alone);
    std::vector<std::tuple<int64_t, int64_t, int, const Cpus*>> order;
    for (const auto& [node, cpus] : groups)
      order.emplace_back(dir(nodes.at(node)), dir(sockets.at(layout_.cpu(cpus[0]).socket)), node,
                         &cpus);
    return sorted(order);
  }

  std::vector<Cpus> cpusBySocket(bool alone) const {
    std::map<int, Cpus> groups;
    for (int cpu : free_) {
      const auto& info = layout_.cpu(cpu);
      if (!alone || !aloneCores_.contains(info.core)) groups[info.socket].push_back(cpu);
    }
    for (auto& [socket, cpus] : groups) cpus = ordered(std::move(cpus), alone);
    std::vector<std::tuple<int64_t, int, const Cpus*>> order;
    for (const auto& [socket, cpus] : groups)
      order.emplace_back(dir(static_cast<int64_t>(cpus.size())), socket, &cpus);
    return sorted(order);
  }

  Cpus freeCpus(bool alone) const {
    const auto keep = [&](const CpuLayout::Cpu& cpu) { return allowed(cpu, alone); };
    std::map<int, Cpus> cores;
    for (int cpu : free_)
      if (keep(layout_.cpu(cpu))) cores[layout_.cpu(cpu).core].push_back(cpu);
    const auto [nodes, sockets] = freeCounts(keep);
    std::map<int, int> takenOn;
    for (int cpu : taken_) takenOn[layout_.cpu(cpu).socket]++;
    std::vector<std::tuple<int, int64_t, int64_t, size_t, int, int, int>> order;
    for (const auto& [core, cpus] : cores) {
      const auto& info = layout_.cpu(cpus[0]);
      int sum = 0;
      for (int cpu : cpus) sum += refs(cpu);
      order.emplace_back(-takenOn[info.socket], dir(sockets.at(info.socket)),
                         dir(nodes.at(info.node)), cpus.size(), info.socket, sum, core);
    }
    std::sort(order.begin(), order.end());
    Cpus out;
    for (const auto& entry : order)
      for (int cpu : ordered(cores[std::get<6>(entry)], false)) out.push_back(cpu);
    return out;
  }

  // In rounds, one CPU of each core.
  Cpus spread(Cpus left) const {
    if (left.size() <= static_cast<size_t>(layout_.cpusPerCore())) return left;
    Cpus out;
    while (!left.empty()) {
      std::set<int> cores;
      Cpus later;
      for (int cpu : left)
        (cores.insert(layout_.cpu(cpu).core).second ? out : later).push_back(cpu);
      left = std::move(later);
    }
    return out;
  }

  const CpuBooks& books_;
  const CpuLayout& layout_;
  const CpuWish& wish_;
  CpuSet free_, taken_;
  int need_;
  std::set<int> aloneCores_, aloneNodes_;
};

Failure unmetPolicy(BindPolicy policy) {
  return fail(mangrove::Code::kUnavailable,
              "insufficient CPUs to satisfy required cpu bind policy {}", bindPolicyName(policy));
}

}  // namespace

Result<CpuSet> accumulate(const CpuBooks& books, const CpuSet& available, const CpuWish& wish) {
  return Run(books, available, wish).pick();
}

CpuSet usableUnder(const CpuLayout& layout, const CpuSet& available, const CpuWish& wish) {
  if (!wish.required) return available;
  std::map<int, Cpus> cores;
  for (int cpu : available) cores[layout.cpu(cpu).core].push_back(cpu);
  CpuSet out;
  for (const auto& [core, cpus] : cores) {
    if (wish.policy == BindPolicy::kSpreadByPcpus)
      out.add(cpus[0]);
    else if (wish.policy != BindPolicy::kFullPcpus ||
             static_cast<int>(cpus.size()) == layout.cpusPerCore())
      for (int cpu : cpus) out.add(cpu);
  }
  return out;
}

bool satisfies(const CpuLayout& layout, const CpuSet& cpus, BindPolicy policy) {
  std::set<int> cores;
  for (int cpu : cpus) cores.insert(layout.cpu(cpu).core);
  if (policy == BindPolicy::kFullPcpus)
    return cores.size() * static_cast<size_t>(layout.cpusPerCore()) == cpus.size();
  return policy != BindPolicy::kSpreadByPcpus || cores.size() == cpus.size();
}

Result<CpuSet> takeFrom(const CpuBooks& books, const CpuSet& available, const CpuSet& preferred,
                        const CpuWish& wish) {
  const CpuSet usable = usableUnder(books.layout(), available, wish);
  const CpuSet first = preferred & usable;
  CpuSet out;
  CpuWish part = wish;
  if (!first.empty()) {
    part.need = std::min<int>(wish.need, static_cast<int>(first.size()));
    auto taken = accumulate(books, first, part);
    if (!taken) return taken;
    out = std::move(*taken);
  }
  part.need = wish.need - static_cast<int>(out.size());
  auto rest = accumulate(books, usable - preferred, part);
  if (!rest) return rest;
  out = out | *rest;
  if (wish.required && !satisfies(books.layout(), out, wish.policy))
    return unmetPolicy(wish.policy);
  return out;
}

Result<CpuSet> takeCpus(const CpuBooks& books, const CpuSet& reserved, const CpuSet& preferred,
                        const CpuWish& wish) {
  const CpuBooks then = preferred.empty() ? books : books.without(preferred);
  return takeFrom(then, then.available(reserved), preferred, wish);
}

}  // namespace mangrove::placement
