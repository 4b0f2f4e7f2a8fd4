#pragma once
// What NodeNUMAResource sees of a pod and of a node, read anew from the objects, and what is left
// on each NUMA node. Test code.

#include "api/annotations/topology.h"
#include "placement/testing/oracle_numa.h"

namespace mangrove::placement::oracle {

// ceil(amount · ratio) for ratios above 1.
int64_t raised(int64_t amount, double ratio);
int64_t amountIn(const Amounts& amounts, const std::string& name);

struct Demand {
  Amounts amounts;
  bool cpuset = false, binds = false;
  std::string required, preferred;  // FullPCPUs, SpreadByPCPUs or ""
  Alone alone = Alone::kNo;
  api::NumaTopologyPolicy policy = api::NumaTopologyPolicy::kNone;
  bool lonelyZone = false;
  int64_t cpu() const { return amountIn(amounts, "cpu"); }
};
Demand demandOf(const NumaRules& rules, const api::Pod& pod);

// Who holds what on the node.
struct Holder {
  std::set<int> cpus;
  std::map<int, Amounts> zones;
  Alone alone = Alone::kNo;
};

struct Board {
  Machine machine;
  std::set<int> reserved;
  std::map<int, Amounts> zones;
  double ratio = 1, zoneRatio = 1;
  bool badRatio = false;
  api::NumaTopologyPolicy policy = api::NumaTopologyPolicy::kNone;
  std::string forced;  // bind policy of the node
  bool most = false;
  std::vector<Holder> holders;

  std::set<int> taken() const {
    std::set<int> out;
    for (const Holder& holder : holders) out.insert(holder.cpus.begin(), holder.cpus.end());
    return out;
  }
  std::set<int> freeOn(int zone) const {  // -1: everywhere
    std::set<int> out;
    const auto used = taken();
    for (const auto& cpu : machine.cpus)
      if ((zone < 0 || cpu.node == zone) && !used.contains(cpu.id) && !reserved.contains(cpu.id))
        out.insert(cpu.id);
    return out;
  }
  int64_t boundOn(int zone) const {
    int64_t count = 0;
    for (int id : taken()) count += machine.at(id).node == zone;
    return 1000 * count;
  }
  Lonely lonely() const {
    Lonely out;
    for (const Holder& holder : holders)
      for (int id : holder.cpus) {
        if (holder.alone == Alone::kCore) out.cores.insert(machine.at(id).core);
        if (holder.alone == Alone::kNode) out.nodes.insert(machine.at(id).node);
      }
    return out;
  }
};
Board boardOf(const NumaRules& rules, const World::Place& place);

struct Question {
  const Board& board;
  const Demand& demand;
  bool binds = false;
  CpuDemand cpus;
};
int64_t leftOn(const Question& q, int zone, const std::string& resource);
bool isReported(const Board& board, const std::string& resource);
// nullopt: these NUMA nodes have too little.
std::optional<NumaGrant> grantOn(const Question& q, const std::vector<int>& zones);

}  // namespace mangrove::placement::oracle
