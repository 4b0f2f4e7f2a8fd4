#pragma once
// A checksum over a row, so that a byte that changed on the disk is found at the next start instead
// of being served. Not against intent. Part of the file format.

#include <cstdint>

#include "store/database.h"

namespace mangrove::store {

uint64_t rowSum(const StoredRow& row);

}  // namespace mangrove::store
