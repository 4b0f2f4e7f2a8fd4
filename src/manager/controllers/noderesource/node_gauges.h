#pragma once
// slo_controller_node_extended_resource_allocatable_internal{node,resource,unit}: what was
// calculated for each node, written or not. Kept as four numbers per node instead of four gauges,
// because with five thousand nodes the labels would weigh more than everything else we know of
// them.
//
//   gauges.set("n1", {.batchMilli = 25000});
//   text += gauges.exposition();                // Prometheus' text format, for the metrics page
//
// Any thread.

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace mangrove::manager {

class NodeGauges {
 public:
  // In the order batch-cpu, batch-memory, mid-cpu, mid-memory; kNone where nothing is sold.
  using Values = std::array<int64_t, 4>;
  static constexpr int64_t kNone = -1;

  void set(const std::string& node, const Values& values);
  void remove(const std::string& node);
  std::string exposition() const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Values> nodes_;
};

}  // namespace mangrove::manager
