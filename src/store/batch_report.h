#pragma once
// What one disk transaction was: for metrics.

#include <cstddef>

#include "base/number/units.h"

namespace mangrove::store {

struct BatchReport {
  size_t transactions = 0;  // of the store, in one of the disk
  Duration took = {};       // from the first byte to the end of the fsync
  bool failed = false;
};

}  // namespace mangrove::store
