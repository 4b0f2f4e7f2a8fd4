#include "client/bench/api/spread.h"

#include <algorithm>
#include <cmath>

namespace mangrove::client {

double quantileOf(const std::vector<double>& sorted, double q) {
  if (sorted.empty()) return 0;
  const auto rank = static_cast<size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted[std::min(sorted.size(), std::max<size_t>(rank, 1)) - 1];
}

Spread spreadOf(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return {quantileOf(values, 0.5), values.front(), values.back()};
}

}  // namespace mangrove::client
