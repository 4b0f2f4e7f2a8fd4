#pragma once
// Keeps a NodeSLO object for every node: the strategies of the ConfigMap as they hold there.
// Compared by meaning, so that nothing is written when nothing differs. Owner thread.

#include <string>

#include "api/koordinator/node_slo.h"
#include "manager/controller.h"
#include "manager/controllers/node_companion.h"

namespace mangrove::manager {

class NodeSloController final : public Controller {
 public:
  explicit NodeSloController(const ControllerSetup& setup);
  void start() override;
  void reconcile(const std::string& name, ControlLoop::Done done) override;
  void each(const Visit& visit) const override;

 private:
  void addRules(const api::Node& node, api::NodeSloSpec& spec) const;

  Desk& desk_;
  ControlLoop& keys_;
  NodeCompanion companion_;
};

}  // namespace mangrove::manager
