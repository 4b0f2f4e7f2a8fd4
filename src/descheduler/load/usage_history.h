#pragma once
// What pods used at most within the last hour: a move is judged by that and not by this minute, so
// that a pod that rests now does not go where there is no room for it when it works.
//
//   history.observe(nodes, now);       every pod's `expected` is the peak of the hour from now on
//
// Owner's thread.

#include <array>
#include <unordered_map>
#include <vector>

#include "api/wire/text.h"
#include "descheduler/load/node_load.h"

namespace mangrove::descheduler {

class UsageHistory {
 public:
  static constexpr Duration kSlot = std::chrono::minutes(15);
  static constexpr int64_t kSlots = 4;

  void observe(std::vector<NodeLoad>& nodes, MonoTime now);
  size_t size() const { return pods_.size(); }

 private:
  struct Peaks {
    int64_t slot = 0;                   // the newest one, counted from the clock's beginning
    std::array<Loads, kSlots> highest;  // by slot % kSlots; empty: nothing was seen then
  };
  static void note(Peaks& peaks, int64_t slot, const Loads& usage);
  static Loads peakOf(const Peaks& peaks);

  std::unordered_map<api::Uid, Peaks> pods_;
  int64_t swept_ = 0;
};

}  // namespace mangrove::descheduler
