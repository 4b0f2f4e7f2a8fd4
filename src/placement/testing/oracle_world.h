#pragma once
// What the oracles look at: plain objects, nothing compiled, nothing kept. Test code.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/koordinator/node_metric.h"
#include "api/koordinator/node_resource_topology.h"
#include "api/object/node.h"
#include "api/pod/pod.h"
#include "placement/cluster/storage.h"

namespace mangrove::placement::oracle {

using Amounts = std::map<std::string, int64_t>;

struct World {
  struct Place {
    const api::Node* node = nullptr;
    std::vector<const api::Pod*> pods;
    const api::NodeMetric* metric = nullptr;
    const api::NodeResourceTopology* topology = nullptr;
  };
  std::vector<Place> places;
  const Storage* storage = nullptr;
  WallTime now = kZeroTime;
};

// cpu in milli-cores, everything else in whole units.
int64_t amount(const api::ResourceList& list, std::string_view name);

}  // namespace mangrove::placement::oracle
