#pragma once
// The controllers, each the glue between the caches and one pure plan. Owner thread.

#include <memory>

#include "workloads/autoscaler/usage_board.h"
#include "workloads/caches.h"
#include "workloads/controller.h"

namespace mangrove::workloads {

std::unique_ptr<Controller> replicaSetController(const Caches& caches);
std::unique_ptr<Controller> replicationControllerController(const Caches& caches);
std::unique_ptr<Controller> deploymentController(const Caches& caches);
std::unique_ptr<Controller> statefulSetController(const Caches& caches);
std::unique_ptr<Controller> daemonSetController(const Caches& caches);
std::unique_ptr<Controller> jobController(const Caches& caches);
std::unique_ptr<Controller> cronJobController(const Caches& caches);
std::unique_ptr<Controller> budgetController(const Caches& caches);
std::unique_ptr<Controller> endpointsController(const Caches& caches);
std::unique_ptr<Controller> taintController(const Caches& caches);
std::unique_ptr<Controller> autoscalerController(const Caches& caches,
                                                 std::shared_ptr<const UsageBoard> board);

}  // namespace mangrove::workloads
