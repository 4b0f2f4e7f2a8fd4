#pragma once
// The CPUs of a node as the scheduler numbers them: which core, NUMA node and socket each is on.
//
//   CpuLayout layout = CpuLayout::of(annotation.detail);
//   layout.coreOf(5), layout.cpusPerCore(), layout.isValid()
//
// Values; const access from any thread.

#include <cstdint>
#include <vector>

#include "api/annotations/topology.h"
#include "base/number/cpu_set.h"

namespace mangrove::placement {

class CpuLayout {
 public:
  struct Cpu {
    int id = 0;
    int core = 0;  // socket << 16 | core id: equal ids on two sockets differ
    int node = 0;
    int socket = 0;
  };
  static CpuLayout of(const std::vector<api::CpuInfo>& detail);

  const std::vector<Cpu>& cpus() const { return cpus_; }  // ascending
  const Cpu& cpu(int id) const { return cpus_[at_[static_cast<size_t>(id)]]; }
  bool has(int id) const {
    return id >= 0 && static_cast<size_t>(id) < at_.size() && at_[static_cast<size_t>(id)] != kNone;
  }
  const CpuSet& all() const { return all_; }
  CpuSet onNode(int node) const;

  int cpusPerCore() const { return perCore_; }
  int cpusPerNode() const { return perNode_; }
  int cpusPerSocket() const { return perSocket_; }
  bool isValid() const { return perCore_ > 0; }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};
  std::vector<Cpu> cpus_;
  std::vector<uint32_t> at_;  // by id
  CpuSet all_;
  int perCore_ = 0, perNode_ = 0, perSocket_ = 0;
};

}  // namespace mangrove::placement
