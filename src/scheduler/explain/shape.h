#pragma once
// mangrove explain shape: how many pods of a shape would fit into a cluster now.
//
// Blocking; any thread but I/O threads.

#include <string>

#include "client/api_client.h"
#include "placement/config/config.h"
#include "placement/explain/shape.h"
#include "scheduler/names.h"

namespace mangrove::scheduler {

struct ShapeRequest {
  int64_t gpus = 1;
  int64_t percent = 100;  // of each card
  std::string topology;   // "", node, numa, pcie or nvlink (a partition of the box)
  int64_t rdma = 0;       // NICs beside the cards' switches
  std::string cpu = "1", memory = "1Gi";
  std::string schedulerName = "koord-scheduler";
  int64_t most = 1000;
};
// The pod that such a request means.
Result<std::string> podOf(const ShapeRequest& request);
Result<ShapeAnswer> explainShape(client::ApiClient& client, const SchedulerConfig& config,
                                 const ShapeRequest& request, Clock& clock);
std::string toText(const ShapeRequest& request, const ShapeAnswer& answer);
std::string toJsonText(const ShapeAnswer& answer);

}  // namespace mangrove::scheduler
