#pragma once
// The devices of one node with what has been given away of each: what the allocator chooses from.
//
//   auto node = nodeDevices(device, nodeLabels, held);
//   for (const Card& card : node->byType["gpu"]) card.free();
//
// An unhealthy card stays known and has nothing to give. A card that is held but no longer reported
// stays in the books, so that it is not given out twice when it comes back. Values; const access
// from any thread.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/annotations/device.h"
#include "api/koordinator/device.h"
#include "base/result.h"
#include "placement/quota/amounts.h"

namespace mangrove::placement {

struct Card {
  int32_t minor = 0;
  std::string id;
  api::Labels labels;
  bool reported = false;  // the Device object names it
  Amounts total;          // empty when unhealthy
  Amounts used;
  std::optional<api::DeviceTopology> topology;
  std::vector<api::VirtualFunctionGroup> vfGroups;
  std::map<std::string, int> heldFunctions;  // bus ids, and how often: more than once is a quarrel

  Amounts free() const;  // names of the total, never below zero
  bool inUse() const { return !used.isZero(); }
  // NUMA node and switch: ids of switches need not differ between NUMA nodes. Needs a topology.
  std::pair<int, std::string_view> pcie() const { return {topology->nodeId, topology->pcieId}; }
};
using Cards = std::vector<Card>;  // by minor
using CardRefs = std::vector<const Card*>;

struct NodeDevices {
  std::map<std::string, Cards, std::less<>> byType;
  std::optional<api::GpuPartitionTable> partitions;
  bool honorsPartitions = false;  // never a card outside of them
  std::string gpuModel;           // vendor-model, as templates are keyed
};

// The card of that minor, made (and not reported) where it is not there yet.
Card& cardOf(NodeDevices& node, const std::string& type, int32_t minor);

// The Device object's own partition table counts first; eight-card boxes with a known switch layout
// have one without it. Fails on a partition table that cannot be read.
Result<NodeDevices> nodeDevices(const api::Device& device, const api::Labels& node,
                                std::span<const api::DeviceAllocations> held);

}  // namespace mangrove::placement
