#pragma once
// Medians and quantiles of a benchmark. Pure.

#include <vector>

#include "client/bench/api/bench_api.h"

namespace mangrove::client {

// All zero without values.
Spread spreadOf(std::vector<double> values);
// Nearest rank; `sorted` ascending.
double quantileOf(const std::vector<double>& sorted, double q);

}  // namespace mangrove::client
