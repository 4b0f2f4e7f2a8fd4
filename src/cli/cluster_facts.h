#pragma once
// What `mangrove check cluster` looks at, and its judgement. The facts are plain values; judging is
// pure; only gatherFacts asks a server.
//
//   auto facts = gatherFacts(client, options, now);
//   Told told = judgeCluster(*facts);

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/koordinator/node_metric.h"
#include "api/object/core_objects.h"
#include "api/object/lease.h"
#include "api/object/node.h"
#include "api/pod/pod.h"
#include "cli/voice.h"
#include "client/api_client.h"

namespace mangrove::cli {

struct WebhookFact {
  std::string name;     // of the configuration
  std::string service;  // "namespace/name"; "" for a URL
  bool hasBundle = false;
  std::optional<size_t> endpoints;  // ready addresses behind the service; absent: not known
  bool refuses = false;             // failurePolicy Fail: without an answer nothing is admitted
};

// May this account do that?
struct RightFact {
  std::string account, verb, resource;
  bool allowed = false;
};

struct ClusterFacts {
  WallTime now{};
  std::string server, version;
  std::vector<std::string> missingCrds;
  std::vector<std::string> missingPriorities;
  std::vector<api::Node> nodes;
  std::map<std::string, api::NodeMetric, std::less<>> metrics;
  std::vector<std::string> slos;  // nodes that have a NodeSLO
  std::vector<api::Pod> pods;
  std::optional<api::ConfigMap> config;
  std::string configName;
  std::vector<WebhookFact> webhooks;
  std::vector<RightFact> rights;
  std::vector<api::Lease> leases;     // of manager and scheduler
  std::vector<std::string> unknowns;  // what could not be looked at, and why
};

struct ClusterQuestion {
  std::string configNamespace;
  std::string configName;
};

Result<ClusterFacts> gatherFacts(client::ApiClient& client, const ClusterQuestion& question,
                                 WallTime now);
Told judgeCluster(const ClusterFacts& facts);

}  // namespace mangrove::cli
