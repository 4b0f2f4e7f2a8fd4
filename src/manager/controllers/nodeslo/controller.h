#pragma once
// Keeps a NodeSLO object for every node: the strategies of the ConfigMap as they hold there (spec
// 02 §3.3). Compared by meaning, so that nothing is written when nothing differs. Owner thread.

#include <string>

#include "manager/controllers/node_companion.h"

namespace mangrove::manager {

class NodeSloController {
 public:
  explicit NodeSloController(Desk& desk);
  void reconcile(const std::string& name, ControlLoop::Done done);

 private:
  Desk& desk_;
  NodeCompanion companion_;
};

}  // namespace mangrove::manager
