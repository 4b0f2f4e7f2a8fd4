#pragma once
// Everything the scheduler believes about the cluster: nodes as columns, pods on them (seen or
// assumed), nominations, and the objects that a few plugins ask for. One truth for all profiles.
//
//   Cluster cluster;
//   cluster.putNode(node);   cluster.observe(pod);            // from the watches
//   cluster.assume(info, row);  …  cluster.forget(info);      // our own decisions
//   cluster.trialRemove(victim);  …                           // preemption plays with the real state
//   Transaction trial(cluster);                               // many pods, every plugin sees them
//
// Listeners (counters of spread and affinity, CPU ledgers, load estimates) hear of every change, so
// that nothing is ever recounted. Owner thread only.

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/koordinator/cluster_network_topology.h"
#include "api/koordinator/device.h"
#include "api/koordinator/elastic_quota.h"
#include "api/koordinator/node_metric.h"
#include "api/koordinator/node_resource_topology.h"
#include "api/koordinator/pod_group.h"
#include "api/object/core_objects.h"
#include "api/object/workload.h"
#include "placement/cluster/node_table.h"
#include "placement/cluster/storage.h"
#include "placement/dra/objects.h"
#include "placement/reservation/book.h"

namespace mangrove::placement {

class DeviceBooks;

class ClusterListener {
 public:
  virtual ~ClusterListener() = default;
  // trial: the pod is taken away or put back to see what would be; nothing has happened.
  virtual void podAdded(const PodInfo&, Row, bool /*trial*/) {}
  virtual void podRemoved(const PodInfo&, Row, bool /*trial*/) {}
  // A transaction looks at the node without the pod, and puts it back as it was.
  virtual void podTakenAway(const PodInfo& pod, Row row) { podRemoved(pod, row, true); }
  virtual void podPutBack(const PodInfo& pod, Row row) { podAdded(pod, row, true); }
  // The same pod on the same node as before: another version of the object.
  virtual void podUpdated(const PodInfo&, Row) {}
  virtual void nodeChanged(Row) {}  // new or another object
  virtual void nodeGone(Row) {}
  virtual void metricChanged(Row) {}    // Cluster::nodeMetrics has another one
  virtual void topologyChanged(Row) {}  // Cluster::topologies
  virtual void deviceChanged(Row) {}    // Cluster::devices
  virtual void podGroupChanged(std::string_view /*key*/) {}
  virtual void quotaChanged(std::string_view /*key*/) {}  // Cluster::elasticQuotas
  // A pod that stands for a reservation counts for something else: owners came or went.
  virtual void standInChanged(const PodInfo&) {}
};

class Cluster {
 public:
  Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  NodeTable table;
  ReservationBook reservations{table};
  PodClasses classes{table.resources()};
  NamespaceLabels namespaces;
  Storage storage;
  ClaimBook claims;  // Kubernetes' own devices
  ObjectMap<api::Service> services;
  ObjectMap<api::Workload> replicaSets, statefulSets, replicationControllers;
  ObjectMap<api::PodDisruptionBudget> budgets;
  ObjectMap<api::NodeMetric> nodeMetrics;                      // by node
  ObjectMap<api::NodeResourceTopology> topologies;             // by node
  ObjectMap<api::Device> devices;                              // by node
  ObjectMap<api::PodGroup> podGroups;                          // ns/name
  ObjectMap<api::ElasticQuota> elasticQuotas;                  // ns/name
  std::shared_ptr<const api::ClusterNetworkTopology> network;  // null: there is none
  uint64_t networkGeneration = 0;
  std::shared_ptr<DeviceBooks> deviceBooks;  // of all profiles; null: nobody allocates devices
  const void* quotaKeeper = nullptr;         // which of several profiles writes figures of quotas
  uint64_t selectorGeneration = 0;           // of services and workloads
  uint64_t budgetGeneration = 0;

  // ---- nodes
  Row putNode(std::shared_ptr<const api::Node> node);
  void removeNode(std::string_view name);

  // Null: gone. The row of the node, kNoRow when it is not known.
  Row putMetric(std::string_view node, std::shared_ptr<const api::NodeMetric> metric);
  Row putTopology(std::string_view node, std::shared_ptr<const api::NodeResourceTopology> topology);
  Row putDevice(std::string_view node, std::shared_ptr<const api::Device> device);
  void putPodGroup(std::string_view key, std::shared_ptr<const api::PodGroup> group);
  void putQuota(std::string_view key, std::shared_ptr<const api::ElasticQuota> quota);

  // ---- pods with a node
  // Seen on a node: new, confirmed, changed or moved.
  PodPtr observe(const std::shared_ptr<const api::Pod>& pod);
  void gone(const api::Uid& uid);
  PodPtr find(const api::Uid& uid) const;
  void assume(const PodPtr& pod, Row row);
  void forget(const PodPtr& pod);
  size_t podCount() const { return pods_.size(); }
  void eachPod(const std::function<void(const PodPtr&)>& visit) const;
  PodPtr makeInfo(std::shared_ptr<const api::Pod> pod);
  // The same for a pod that is like no other: something in the cluster names it.
  PodPtr makeSoleInfo(const std::shared_ptr<const api::Pod>& pod);

  void trialRemove(const PodPtr& pod);
  void trialAdd(const PodPtr& pod, Row row);
  // The same for everybody who listens and in the log of changes; only a Transaction can undo it.
  void takeAway(const PodPtr& pod);
  void putBack(const PodPtr& pod, Row row);

  // ---- nominations: room kept for a pod that waits until victims are gone
  void nominate(const PodPtr& pod, Interned node);
  void denominate(const api::Uid& uid);
  Interned nominatedNode(const api::Uid& uid) const;
  std::vector<PodPtr> nominatedOn(Interned node) const;
  bool hasNominations() const { return !nominated_.empty(); }
  bool isNominated(Row row) const { return row < nominatedRows_.size() && nominatedRows_[row]; }

  void listen(ClusterListener& listener) { listeners_.push_back(&listener); }
  void unlisten(ClusterListener& listener);

 private:
  void place(const PodPtr& pod, bool trial);
  void displace(const PodPtr& pod, bool trial);
  bool renominate(const PodPtr& pod, Interned node);
  void noteNominated(Interned node);  // who is nominated there changed

  std::unordered_map<api::Uid, PodPtr> pods_;                   // with a node
  std::unordered_map<Interned, std::vector<PodPtr>> homeless_;  // their node is not known (yet)
  std::unordered_map<api::Uid, PodPtr> nominated_;
  std::unordered_map<api::Uid, Interned> nominatedTo_;
  std::unordered_map<Interned, std::vector<PodPtr>> onNode_;
  std::vector<uint8_t> nominatedRows_;  // by row: somebody is nominated there
  std::vector<ClusterListener*> listeners_;
};

}  // namespace mangrove::placement
