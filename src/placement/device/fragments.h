#pragma once
// How broken a node's cards are: how much of what is free is of no use to the shapes of pods that
// have been seen lately. A choice that leaves less of it keeps room for the large ones.
//
//   shapes.saw({8, 100, 64'000});                      // 8 whole cards, 64 cores
//   lossOf(fragmentsOf(before, shapes), fragmentsOf(after, shapes))
//
// After the published idea of following the gradient of fragmentation: for each shape the free
// share of cards that it cannot use on this node, weighted by how often it comes. Pure functions
// and values; any thread.

#include <cstdint>
#include <vector>

#include "placement/device/cards.h"

namespace mangrove::placement {

// What a pod of one kind wants of a node.
struct CardShape {
  int64_t count = 1;
  int64_t percent = 100;  // of each card
  int64_t milliCpu = 0;
  bool operator==(const CardShape&) const = default;
};

// The shapes seen lately, with how often.
class SeenShapes {
 public:
  static constexpr size_t kMost = 32;       // different ones
  static constexpr int64_t kWindow = 4096;  // above, all counts are halved

  void saw(const CardShape& shape);
  struct Seen {
    CardShape shape;
    int64_t times = 0;
  };
  const std::vector<Seen>& all() const { return seen_; }
  int64_t total() const { return total_; }

 private:
  std::vector<Seen> seen_;
  int64_t total_ = 0;
};

struct NodeRoom {
  std::vector<int64_t> percent;  // free of each healthy card
  int64_t milliCpu = 0;
};
NodeRoom roomOf(const NodeDevices& node, int64_t freeMilliCpu);

// Percent of cards that are free here and useless to the shape.
int64_t uselessTo(const CardShape& shape, const NodeRoom& room);
// The mean over the shapes seen, in thousandths of a percent; 0 when none was seen.
int64_t fragmentsOf(const NodeRoom& room, const SeenShapes& shapes);

}  // namespace mangrove::placement
