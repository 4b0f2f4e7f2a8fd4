#pragma once
// Which CPUs a pod gets, step by step as the rules are written: lists are made by looking at every
// CPU. Test code.

#include <optional>
#include <set>
#include <vector>

namespace mangrove::placement::oracle {

struct OracleCpu {
  int id = 0, core = 0, node = 0, socket = 0;
};

struct Machine {
  std::vector<OracleCpu> cpus;  // by id
  int perCore = 0, perNode = 0, perSocket = 0;
  bool isValid() const { return perCore > 0; }
  const OracleCpu& at(int id) const;
  bool has(int id) const;
};
Machine machineOf(std::vector<OracleCpu> cpus);

enum class Alone { kNo, kCore, kNode };

struct CpuDemand {
  int need = 0;
  bool full = true;  // whole cores; otherwise one CPU of each
  bool required = false;
  bool most = false;  // the fuller place first
  Alone alone = Alone::kNo;
};

// CPUs of `free` that a required policy can use.
std::set<int> usable(const Machine& machine, const std::set<int>& free, const CpuDemand& demand);
// nullopt: not enough. Cores and nodes that hold pods of each level are given.
struct Lonely {
  std::set<int> cores, nodes;
};
std::optional<std::set<int>> pickCpus(const Machine& machine, const std::set<int>& free,
                                      const Lonely& lonely, const CpuDemand& demand);

}  // namespace mangrove::placement::oracle
