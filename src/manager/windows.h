#pragma once
// What the hour allows a node to sell: said by the time policies, asked by who sells. The two
// controllers know this board and not each other; either may be switched off.
//
//   desk.windows.report = [&](const api::Node& node, …) { return policies.report(node, …); };
//   if (desk.windows.report) in.window = desk.windows.report(node, metric, pods);
//
// Owner thread.

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "api/object/node.h"
#include "manager/controllers/noderesource/node_inputs.h"

namespace mangrove::manager {

// What a time policy says of a node at this moment.
struct WindowReport {
  CpuMemory allowed;  // replaces the batch formula's amount
  double factor = 1;  // of the hour: 0 off, 1 full; mid amounts are scaled by it
};

struct Windows {
  // Nullopt: no policy selects the node. Empty: there are no time policies.
  std::function<std::optional<WindowReport>(const api::Node&, const MetricFacts*,
                                            std::span<const PodFacts* const>)>
      report;
  // Told that a node's report may have changed. Empty: nobody sells.
  std::function<void(std::string_view node)> changed;
};

}  // namespace mangrove::manager
