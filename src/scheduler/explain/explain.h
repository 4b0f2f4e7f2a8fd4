#pragma once
// Why a pod is where it is, or nowhere: the engine is filled with what the server has now, one
// cycle is run without writing anything, and everything it found is told.
//
//   Result<Explanation> why = explainPod(client, config, {.ns = "default", .name = "web-1"});
//   fmt::print("{}", toText(*why));
//
// Blocking; any thread but I/O threads.

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "client/api_client.h"
#include "placement/config/config.h"
#include "placement/cycle/diagnosis.h"
#include "scheduler/names.h"

namespace mangrove::scheduler {

struct ExplainRequest {
  std::string ns = "default";
  std::string name;      // of a pod on the server; or
  std::string manifest;  // JSON of a pod that need not exist
  size_t topNodes = 5;
};

struct Explanation {
  std::string pod, profile;
  std::string assignedTo;  // "" : it waits
  size_t nodes = 0, feasible = 0;
  std::string message;                     // Kubernetes' sentence when nothing fits
  std::vector<Diagnosis::Group> refusals;  // by plugin and reason
  struct Detail {
    std::string node, plugin, text;
  };
  std::vector<Detail> details;  // of some nodes, where a plugin has more to say
  std::string group;            // what its gang needs and what fits; "": it has none
  std::string nearestMiss;      // "would fit on 2 nodes with 500m less cpu"; or ""
  struct Scored {
    std::string node;
    int64_t total = 0;
    std::vector<int64_t> scores;  // weighted, in the order of `plugins`
  };
  std::vector<std::string> plugins;
  std::vector<Scored> top;
};

Result<Explanation> explainPod(client::ApiClient& client, const SchedulerConfig& config,
                               const ExplainRequest& request, Clock& clock);
std::string toText(const Explanation& explanation);
std::string toJsonText(const Explanation& explanation);

}  // namespace mangrove::scheduler
