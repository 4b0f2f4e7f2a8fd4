#pragma once
// Who is asked to go first: pods of koord-free, then batch, mid, prod, and last those without a band.
//
//   bandRank(PriorityBand::kFree) == 1, … kProd == 4, kNone == 5

#include "api/pod/classes.h"

namespace mangrove::api {

// The bands are declared from the most to the least protected, behind kNone.
constexpr int bandRank(PriorityBand band) {
  return 5 - static_cast<int>(band);
}
static_assert(bandRank(PriorityBand::kFree) == 1 && bandRank(PriorityBand::kProd) == 4);

}  // namespace mangrove::api
