#pragma once
// GPUs that belong together by their links: a box's table says which groups of which size there
// are, and a request for whole cards takes one group.
//
//   H800, cards 2 and 3 in use, two wanted → 0 and 1: the other half stays whole for four
//
// Pure functions, any thread.

#include <optional>
#include <string_view>

#include "placement/device/pick.h"

namespace mangrove::placement {

// Of boxes whose layout is known without a report: eight cards of H100, H800 or H20.
std::optional<api::GpuPartitionTable> builtInPartitions(std::string_view vendor,
                                                        std::string_view model);

struct PartitionQuestion {
  const api::GpuPartitionTable& table;
  const Cards& all;                             // whose use blocks a partition
  const CardRefs& visible;                      // who may be in one
  const api::GpuPartitionSpec* spec = nullptr;  // bandwidth, and whether the best score is a must
};
// The partitions of the highest score that has a usable one; among them the one after which most
// large partitions stay free. Restricted looks at the highest score only.
Picked pickPartition(const PartitionQuestion& question, int64_t count, const Amounts& each);

}  // namespace mangrove::placement
