#include "placement/testing/oracle_cpus.h"

#include <algorithm>
#include <map>

namespace mangrove::placement::oracle {

namespace {

using List = std::vector<int>;
struct Group {
  int id = 0;  // NUMA node or socket
  List cpus;
  int order1 = 0, order2 = 0;
};

class Picker {
 public:
  Picker(const Machine& machine, std::set<int> free, const Lonely& lonely, const CpuDemand& demand)
      : machine_(machine), demand_(demand), free_(std::move(free)), need_(demand.need) {
    if (demand.alone == Alone::kCore) lonely_.cores = lonely.cores;
    if (demand.alone == Alone::kNode) lonely_.nodes = lonely.nodes;
  }

  std::optional<std::set<int>> run() {
    if (need_ > static_cast<int>(free_.size())) return std::nullopt;
    if (demand_.full || machine_.perCore == 1) wholeCores();
    if (need_ > 0 && !demand_.full) together();
    for (bool alone : {true, false})
      if (need_ > 0) takeSome(inRounds(anywhere(alone)), need_);
    return need_ == 0 ? std::optional(picked_) : std::nullopt;
  }

 private:
  const OracleCpu& cpu(int id) const { return machine_.at(id); }
  bool lonelyCore(int id) const { return lonely_.cores.contains(cpu(id).core); }
  bool lonelyNode(int id) const { return lonely_.nodes.contains(cpu(id).node); }
  int signedCount(int count) const { return demand_.most ? count : -count; }

  void takeSome(const List& list, int count) {
    for (int id : list) {
      if (count-- <= 0) return;
      free_.erase(id);
      picked_.insert(id);
      need_--;
      if (demand_.alone == Alone::kCore) lonely_.cores.insert(cpu(id).core);
      if (demand_.alone == Alone::kNode) lonely_.nodes.insert(cpu(id).node);
    }
  }

  List siblings(int core) const {
    List out;
    for (const auto& c : machine_.cpus)
      if (c.core == core) out.push_back(c.id);
    return out;
  }
  bool coreIsFree(int core) const {
    const List all = siblings(core);
    return std::all_of(all.begin(), all.end(), [&](int id) { return free_.contains(id); });
  }

  // Free CPUs that satisfy `keep`, grouped by node or socket; cores in order of their ids.
  template <class Keep>
  std::vector<Group> grouped(bool bySocket, bool byCore, Keep keep) const {
    std::map<int, std::vector<std::pair<int, int>>> found;  // (core or 0, cpu)
    for (int id : free_)
      if (keep(id))
        found[bySocket ? cpu(id).socket : cpu(id).node].push_back({byCore ? cpu(id).core : 0, id});
    std::vector<Group> out;
    for (auto& [id, pairs] : found) {
      std::sort(pairs.begin(), pairs.end());
      Group group{id, {}, 0, 0};
      for (const auto& [core, cpuId] : pairs) group.cpus.push_back(cpuId);
      out.push_back(std::move(group));
    }
    return out;
  }
  template <class Keep>
  int countFree(Keep keep) const {
    return static_cast<int>(std::count_if(free_.begin(), free_.end(), keep));
  }
  static void sortGroups(std::vector<Group>& groups) {
    std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
      if (a.order1 != b.order1) return a.order1 < b.order1;
      if (a.order2 != b.order2) return a.order2 < b.order2;
      return a.id < b.id;
    });
  }
  bool takeFirstFitting(const std::vector<Group>& groups, bool rounds) {
    for (const Group& group : groups)
      if (static_cast<int>(group.cpus.size()) >= need_) {
        takeSome(rounds ? inRounds(group.cpus) : group.cpus, need_);
        return true;
      }
    return false;
  }

  // ---- step 2: whole cores
  std::vector<Group> coresByNode(bool alone) const {
    auto out = grouped(false, true, [&](int id) {
      return coreIsFree(cpu(id).core) && !(alone && lonelyNode(id));
    });
    for (Group& group : out) {
      const int socket = cpu(group.cpus[0]).socket;
      group.order1 = signedCount(static_cast<int>(group.cpus.size()));
      group.order2 = signedCount(countFree(
          [&](int id) { return cpu(id).socket == socket && !(alone && lonelyNode(id)); }));
    }
    sortGroups(out);
    return out;
  }
  std::vector<Group> coresBySocket() const {
    return grouped(true, true, [&](int id) { return coreIsFree(cpu(id).core); });
  }

  void wholeCores() {
    if (need_ <= machine_.perNode)
      for (bool alone : {true, false})
        if (takeFirstFitting(coresByNode(alone), false)) return;
    auto sockets = coresBySocket();
    for (Group& group : sockets) group.order1 = signedCount(static_cast<int>(group.cpus.size()));
    sortGroups(sockets);
    if (need_ <= machine_.perSocket && takeFirstFitting(sockets, false)) return;
    for (Group& group : sockets) group.order1 = -static_cast<int>(group.cpus.size());
    sortGroups(sockets);
    std::vector<Group> aside;
    for (const Group& group : sockets)
      if (static_cast<int>(group.cpus.size()) <= need_)
        takeSome(group.cpus, static_cast<int>(group.cpus.size()));
      else
        aside.push_back(group);
    for (Group& group : aside) group.order1 = static_cast<int>(group.cpus.size());
    sortGroups(aside);
    for (const Group& group : aside)
      takeSome(group.cpus, need_ / machine_.perCore * machine_.perCore);
  }

  // ---- step 3: single CPUs of one place
  List firstOfEachCore(const List& cpus) const {
    List out;
    std::set<int> seen;
    for (int id : cpus)
      if (seen.insert(cpu(id).core).second) out.push_back(id);
    return out;
  }
  void together() {
    for (bool alone : {true, false}) {
      if (need_ > machine_.perNode) break;
      const auto keep = [&](int id) { return !alone || (!lonelyCore(id) && !lonelyNode(id)); };
      auto groups = grouped(false, false, keep);
      for (Group& group : groups) {
        const int socket = cpu(group.cpus[0]).socket;
        group.order1 = signedCount(static_cast<int>(group.cpus.size()));
        group.order2 =
            signedCount(countFree([&](int id) { return cpu(id).socket == socket && keep(id); }));
        if (alone) group.cpus = firstOfEachCore(group.cpus);
      }
      sortGroups(groups);
      if (takeFirstFitting(groups, true)) return;
    }
    for (bool alone : {true, false}) {
      if (need_ > machine_.perSocket) break;
      auto groups = grouped(true, false, [&](int id) { return !alone || !lonelyCore(id); });
      for (Group& group : groups) {
        if (alone) group.cpus = firstOfEachCore(group.cpus);
        group.order1 = signedCount(static_cast<int>(group.cpus.size()));
      }
      sortGroups(groups);
      if (takeFirstFitting(groups, true)) return;
    }
  }

  // ---- step 4: anywhere
  List anywhere(bool alone) const {
    const auto keep = [&](int id) { return !alone || (!lonelyCore(id) && !lonelyNode(id)); };
    struct Core {
      std::vector<int> order;
      List cpus;
    };
    std::map<int, List> cores;
    for (int id : free_)
      if (keep(id)) cores[cpu(id).core].push_back(id);
    std::vector<Core> sorted;
    for (const auto& [core, cpus] : cores) {
      const OracleCpu& first = cpu(cpus[0]);
      const int taken = static_cast<int>(std::count_if(
          picked_.begin(), picked_.end(), [&](int id) { return cpu(id).socket == first.socket; }));
      sorted.push_back(
          {{-taken, signedCount(countFree([&](int id) {
              return cpu(id).socket == first.socket && keep(id);
            })),
            signedCount(countFree([&](int id) { return cpu(id).node == first.node && keep(id); })),
            static_cast<int>(cpus.size()), first.socket, core},
           cpus});
    }
    std::sort(sorted.begin(), sorted.end(),
              [](const Core& a, const Core& b) { return a.order < b.order; });
    List out;
    for (const Core& core : sorted) out.insert(out.end(), core.cpus.begin(), core.cpus.end());
    return out;
  }

  // One CPU of each core, then the second of each, and so on.
  List inRounds(const List& list) const {
    if (static_cast<int>(list.size()) <= machine_.perCore) return list;
    std::map<int, int> seen;
    std::vector<std::pair<int, int>> ranked;  // (round, place in the list)
    for (size_t i = 0; i < list.size(); i++)
      ranked.push_back({seen[cpu(list[i]).core]++, static_cast<int>(i)});
    std::sort(ranked.begin(), ranked.end());
    List out;
    for (const auto& [round, at] : ranked) out.push_back(list[static_cast<size_t>(at)]);
    return out;
  }

  const Machine& machine_;
  const CpuDemand& demand_;
  std::set<int> free_, picked_;
  Lonely lonely_;
  int need_;
};

}  // namespace

const OracleCpu& Machine::at(int id) const {
  return *std::find_if(cpus.begin(), cpus.end(), [&](const auto& cpu) { return cpu.id == id; });
}

bool Machine::has(int id) const {
  return std::any_of(cpus.begin(), cpus.end(), [&](const auto& cpu) { return cpu.id == id; });
}

Machine machineOf(std::vector<OracleCpu> cpus) {
  Machine out;
  std::set<int> cores, nodes, sockets;
  for (const OracleCpu& cpu : cpus) {
    cores.insert(cpu.core);
    nodes.insert(cpu.node);
    sockets.insert(cpu.socket);
  }
  out.cpus = std::move(cpus);
  if (out.cpus.empty()) return out;
  const int count = static_cast<int>(out.cpus.size());
  out.perCore = count / static_cast<int>(cores.size());
  out.perNode = count / static_cast<int>(nodes.size());
  out.perSocket = count / static_cast<int>(sockets.size());
  return out;
}

std::set<int> usable(const Machine& machine, const std::set<int>& free, const CpuDemand& demand) {
  if (!demand.required) return free;
  std::map<int, List> cores;
  for (int id : free) cores[machine.at(id).core].push_back(id);
  std::set<int> out;
  for (const auto& [core, cpus] : cores) {
    if (!demand.full) out.insert(cpus[0]);
    if (demand.full && static_cast<int>(cpus.size()) == machine.perCore)
      out.insert(cpus.begin(), cpus.end());
  }
  return out;
}

std::optional<std::set<int>> pickCpus(const Machine& machine, const std::set<int>& free,
                                      const Lonely& lonely, const CpuDemand& demand) {
  auto got = Picker(machine, usable(machine, free, demand), lonely, demand).run();
  if (!got || !demand.required) return got;
  std::set<int> cores;
  for (int id : *got) cores.insert(machine.at(id).core);
  const auto wanted =
      demand.full ? got->size() / static_cast<size_t>(machine.perCore) : got->size();
  if (cores.size() != wanted) return std::nullopt;
  return got;
}

}  // namespace mangrove::placement::oracle
