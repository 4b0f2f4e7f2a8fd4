#pragma once
// LowNodeUtilization and HighNodeUtilization of the Kubernetes descheduler: the same arithmetic as
// LowNodeLoad, over what pods ask for instead of what they use, and without waiting.
//
// Low: pods leave nodes above targetThresholds for nodes below thresholds. High: nodes below
// thresholds are emptied into all others, so that they can be switched off.

#include "descheduler/load/node_load.h"
#include "descheduler/plugin.h"
#include "descheduler/plugins/low_node_load_args.h"

namespace mangrove::descheduler {

struct UtilizationArgs {
  LowNodeLoadArgs pass;  // numberOfNodes, namespaces; one pool with the bounds
};
Result<UtilizationArgs> readLowUtilizationArgs(const json::Value& args);
Result<UtilizationArgs> readHighUtilizationArgs(const json::Value& args);

// What pods of a node ask for, in the place of what they use.
std::vector<NodeLoad> requested(const Look& look, const Nodes& nodes, const Scale& scale);

class LowNodeUtilization final : public Plugin {
 public:
  static constexpr std::string_view kName = "LowNodeUtilization";
  explicit LowNodeUtilization(UtilizationArgs args) : args_(std::move(args)) {}
  std::string_view name() const override { return kName; }
  Result<> run(Round& round) override;

 private:
  UtilizationArgs args_;
};

class HighNodeUtilization final : public Plugin {
 public:
  static constexpr std::string_view kName = "HighNodeUtilization";
  explicit HighNodeUtilization(UtilizationArgs args) : args_(std::move(args)) {}
  std::string_view name() const override { return kName; }
  Result<> run(Round& round) override;

 private:
  UtilizationArgs args_;
};

}  // namespace mangrove::descheduler
