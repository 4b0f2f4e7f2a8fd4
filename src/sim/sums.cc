#include "sim/sums.h"

#include <initializer_list>

namespace mangrove::sim {

void Sums::add(const Sums& other) {
  for (const auto part :
       {&Sums::capacity, &Sums::used, &Sums::sold, &Sums::midSold, &Sums::placed, &Sums::batchUsed,
        &Sums::lost, &Sums::serviceTime, &Sums::cpuShort, &Sums::memoryShort, &Sums::unplaced})
    this->*part += other.*part;
  for (const auto part :
       {&Sums::evicted, &Sums::killed, &Sums::finished, &Sums::lostWithNode, &Sums::writes})
    this->*part += other.*part;
}

}  // namespace mangrove::sim
