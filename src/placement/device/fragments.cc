#include "placement/device/fragments.h"

#include <algorithm>

#include "placement/device/request.h"

namespace mangrove::placement {

void SeenShapes::saw(const CardShape& shape) {
  const auto at =
      std::find_if(seen_.begin(), seen_.end(), [&](const Seen& one) { return one.shape == shape; });
  if (at != seen_.end()) {
    at->times++;
  } else {
    if (seen_.size() == kMost) {  // the rarest makes room
      const auto rarest =
          std::min_element(seen_.begin(), seen_.end(),
                           [](const Seen& a, const Seen& b) { return a.times < b.times; });
      total_ -= rarest->times;
      seen_.erase(rarest);
    }
    seen_.push_back({shape, 1});
  }
  if (++total_ <= kWindow) return;
  total_ = 0;
  for (Seen& one : seen_) total_ += one.times = (one.times + 1) / 2;
}

NodeRoom roomOf(const NodeDevices& node, int64_t freeMilliCpu) {
  NodeRoom out;
  out.milliCpu = freeMilliCpu;
  const auto gpus = node.byType.find(device_type::kGpu);
  if (gpus == node.byType.end()) return out;
  const DeviceNames& names = deviceNames();
  for (const Card& card : gpus->second) {
    if (card.total.empty()) continue;
    const auto left = [&](Interned name) {
      return std::max<int64_t>(0, card.total.amount(name) - card.used.amount(name));
    };
    out.percent.push_back(std::min(left(names.core), left(names.ratio)));
  }
  return out;
}

int64_t uselessTo(const CardShape& shape, const NodeRoom& room) {
  int64_t all = 0, usable = 0, cards = 0;
  for (int64_t percent : room.percent) {
    all += percent;
    if (percent < shape.percent) continue;
    usable += percent;
    cards++;
  }
  const bool fits = cards >= shape.count && room.milliCpu >= shape.milliCpu;
  return fits ? all - usable : all;
}

int64_t fragmentsOf(const NodeRoom& room, const SeenShapes& shapes) {
  if (shapes.total() == 0) return 0;
  int64_t sum = 0;
  for (const auto& [shape, times] : shapes.all()) sum += times * uselessTo(shape, room);
  return sum * 1000 / shapes.total();
}

}  // namespace mangrove::placement
