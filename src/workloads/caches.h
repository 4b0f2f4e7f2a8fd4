#pragma once
// Everything the workload controllers look at, kept by informers. Owner thread.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/koordinator/node_metric.h"
#include "api/object/core_objects.h"
#include "api/object/node.h"
#include "api/pod/pod.h"
#include "base/clock.h"
#include "base/mailbox.h"
#include "base/metrics.h"
#include "client/informer/informer.h"
#include "workloads/autoscaler/objects.h"
#include "workloads/objects.h"
#include "workloads/plan.h"

namespace mangrove::workloads {

struct CachesSetup {
  client::ApiClient* client = nullptr;
  Mailbox* owner = nullptr;
  Mailbox* home = nullptr;  // where decoding happens; null: the owner's thread
  Clock* clock = nullptr;
  Registry* metrics = nullptr;
};

class Caches {
 public:
  explicit Caches(const CachesSetup& setup);
  void start();
  bool synced() const;

  client::Informer<Deployment> deployments;
  client::Informer<ReplicaSet> replicaSets;
  client::Informer<ReplicationController> replicationControllers;
  client::Informer<StatefulSet> statefulSets;
  client::Informer<DaemonSet> daemonSets;
  client::Informer<Job> jobs;
  client::Informer<CronJob> cronJobs;
  client::Informer<ControllerRevision> revisions;
  client::Informer<api::PodDisruptionBudget> budgets;
  client::Informer<Service> services;
  client::Informer<api::ObjectHead> endpoints;
  client::Informer<api::ObjectHead> slices;
  client::Informer<Autoscaler> autoscalers;
  client::Informer<api::NodeMetric> metrics;  // what autoscalers go by
  client::Informer<api::Pod> pods;
  client::Informer<api::Node> nodes;

  // Pods that name this uid as their controller, and with orphans also those of the namespace that
  // have none.
  Pods podsOf(const api::ObjectMeta& owner, bool withOrphans) const;
  Pods podsIn(std::string_view ns) const;
  // EndpointSlices that name this service ("namespace/name").
  std::vector<std::shared_ptr<const api::ObjectHead>> slicesOf(std::string_view service) const;
  Pods podsOn(std::string_view node) const;
  std::vector<std::shared_ptr<const ReplicaSet>> setsOf(const api::ObjectMeta& owner,
                                                        bool withOrphans) const;
  std::vector<std::shared_ptr<const Job>> jobsOf(const api::ObjectMeta& owner) const;
  std::vector<std::shared_ptr<const ControllerRevision>> revisionsOf(
      const api::ObjectMeta& owner) const;

  // What is known of one object; nullopt when this kind is not followed here.
  struct Known {
    bool exists = false;
    bool leaving = false;
    std::string uid, version;
  };
  std::optional<Known> look(const api::Kind& kind, std::string_view key) const;
};

}  // namespace mangrove::workloads
