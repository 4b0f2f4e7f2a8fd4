#pragma once
// KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1), the part we serve: read, checked,
// merged with the defaults. Unknown fields are refused with the nearest known name.
//
//   Result<SchedulerConfig> config = readConfig(yamlText, "scheduler.yaml");
//   SchedulerConfig plain = defaultConfig({"koord-scheduler", "default-scheduler"});
//
// Pure functions, any thread.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/number/units.h"
#include "base/result.h"
#include "placement/cycle/profile.h"
#include "placement/intake/transform.h"

namespace mangrove::placement {

struct LeaderElectionConfig {
  bool leaderElect = true;
  Duration leaseDuration = std::chrono::seconds(15);
  Duration renewDeadline = std::chrono::seconds(10);
  Duration retryPeriod = std::chrono::seconds(2);
  std::string resourceName = "koord-scheduler";
  std::string resourceNamespace = "koordinator-system";
};

struct SchedulerConfig {
  std::vector<ProfileConfig> profiles;
  int32_t percentageOfNodesToScore = 0;  // 0: all nodes
  Duration podInitialBackoff = std::chrono::seconds(1);
  Duration podMaxBackoff = std::chrono::seconds(10);
  Duration longestInPool = std::chrono::minutes(5);  // of refused pods; a flag, not a field
  // A gate, not a field: room is kept for pods that other schedulers have nominated, too.
  bool crossSchedulerNomination = false;
  // A gate as well: on a node where pods are nominated a pod need only fit beside them.
  bool skipFilterWithNominatedPods = false;
  PodTransforms transforms;  // gates, too
  QuotaGates quotaGates;
  bool devicePluginAdaption = false;
  LeaderElectionConfig leaderElection;
  std::string kubeconfig;             // clientConnection.kubeconfig
  std::optional<double> qps, burst;   // of clientConnection, only where they are set
  std::vector<std::string> warnings;  // what was accepted without effect
};

// The plugins of Kubernetes in their order and weights, under each of these names.
SchedulerConfig defaultConfig(const std::vector<std::string>& schedulerNames);
// Kubernetes' defaults plus those of the reference that exist here.
ProfileConfig colocationProfile(std::string schedulerName);
ProfileConfig kubernetesProfile(std::string schedulerName);

// What a profile has that names no plugins.
using PlainProfile = ProfileConfig (*)(std::string schedulerName);

// One YAML or JSON document.
Result<SchedulerConfig> readConfig(std::string_view text, std::string_view name,
                                   PlainProfile plain = kubernetesProfile);

}  // namespace mangrove::placement
