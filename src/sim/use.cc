#include "sim/use.h"

#include <deque>

namespace mangrove::sim {

// From the end, with a queue in which values only fall: each step looks at each value once.
std::vector<float> peaksAhead(const Curve& curve, Seconds step, Seconds length, Seconds ahead) {
  const int64_t steps = (length + step - 1) / step;
  const int64_t window = ahead / step + 1;
  std::vector<float> out(static_cast<size_t>(steps));
  std::deque<std::pair<int64_t, float>> falling;
  for (int64_t i = steps - 1; i >= 0; i--) {
    const auto value = static_cast<float>(curve.at(i * step));
    while (!falling.empty() && falling.front().second <= value) falling.pop_front();
    falling.emplace_front(i, value);
    while (falling.back().first >= i + window) falling.pop_back();
    out[static_cast<size_t>(i)] = falling.back().second;
  }
  return out;
}

}  // namespace mangrove::sim
