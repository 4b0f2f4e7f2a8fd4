#pragma once
// What a simulation adds up, step by step; core-seconds and pod-seconds unless said otherwise.
// Values, any thread.

#include <cstdint>

namespace mangrove::sim {

struct Sums {
  double capacity = 0, used = 0;
  double sold = 0;  // batch-cpu that nodes offer
  double midSold = 0;
  double placed = 0;  // batch-cpu that tasks hold
  double batchUsed = 0;
  double lost = 0;  // batch CPU whose work was thrown away
  double serviceTime = 0;
  double cpuShort = 0;                            // of serviceTime: got less CPU than wanted
  double memoryShort = 0;                         // of serviceTime: the node was out of memory
  double unplaced = 0;                            // replicas that had no node
  int64_t evicted = 0, killed = 0, finished = 0;  // tasks; killed: by the kernel, out of memory
  int64_t lostWithNode = 0;                       // tasks whose node failed
  int64_t writes = 0;                             // of Node objects by the manager

  void add(const Sums& other);
  double share(double part, double whole) const { return whole > 0 ? part / whole : 0; }
  double utilisation() const { return share(used, capacity); }
  double shortShare() const { return share(cpuShort + memoryShort, serviceTime); }
  double work() const { return batchUsed - lost; }  // batch CPU that counts
  bool operator==(const Sums&) const = default;
};

}  // namespace mangrove::sim
