#pragma once
// How a parent's amount of one resource is divided among its children, in whole units.
//
//   waterFill(100, shares)      what each child may use
//   scaledMins(200, mins)       what is left of the guarantees when there is not enough for all
//
// Every child has its floor first: its minimum (or what is guaranteed to it by use), or just what it
// asks for when that is less and it lends the rest. What is left goes to those who ask for more, by
// weight, round by round, until everybody has what he asks for or nothing is left. Largest
// remainders decide about the last units and equal remainders the order of the children, so that
// each round hands out exactly what is left. Worked: 10 among three equals that ask for 10 each:
// 4, 3, 3.
//
// Pure functions, any thread.

#include <cstdint>
#include <span>
#include <vector>

#include "base/number/int128.h"

namespace mangrove::placement {

struct Share {
  int64_t weight = 0;
  int64_t request = 0;  // already held down to the child's maximum
  int64_t floor = 0;    // the larger of minimum (scaled) and guarantee
  bool lends = true;
};

// Children in the order of their names. Σ ≤ total whenever the floors together are.
std::vector<int64_t> waterFill(int64_t total, std::span<const Share> children);
// What a child has when there is enough for all of them.
int64_t satedBy(const Share& child);

// The same for whoever divides often: what is needed on the way is kept from one call to the next.
// One thread.
class WaterFill {
 public:
  // Valid until the next call.
  std::span<const int64_t> operator()(int64_t total, std::span<const Share> children);

 private:
  std::vector<int64_t> runtime_, weights_, parts_;
  std::vector<size_t> asking_, order_;
  std::vector<Int128> remainders_;
};

struct MinShare {
  int64_t min = 0;
  bool scales = true;
};

// The minimums themselves while the total covers them; otherwise what is left after those that do
// not scale, in proportion, rounded down: the last units go to those who ask for them.
std::vector<int64_t> scaledMins(int64_t total, std::span<const MinShare> children);

// `amount` in proportion to weights of at least 0, by largest remainder, ties in order; all zero
// when no weight is above 0.
std::vector<int64_t> proportional(int64_t amount, std::span<const int64_t> weights);

}  // namespace mangrove::placement
