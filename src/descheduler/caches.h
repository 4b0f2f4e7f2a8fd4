#pragma once
// What the descheduler knows of the cluster: informers of everything it looks at, with the indexes it
// asks by. Owner's thread.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/koordinator/pod_migration_job.h"
#include "api/koordinator/reservation.h"
#include "api/object/core_objects.h"
#include "api/object/workload.h"
#include "base/clock.h"
#include "base/mailbox.h"
#include "base/metrics.h"
#include "client/informer/informer.h"
#include "descheduler/look.h"
#include "descheduler/migration/limits.h"
#include "placement/intake/watched_pod.h"

namespace mangrove::descheduler {

// A pod as the scheduler reads it, with the one thing api::Pod leaves out that decides whether it
// may move.
struct SeenPod : placement::WatchedPod {
  bool hasLocalStorage = false;  // a hostPath or emptyDir volume
};
bool read(const api::In& in, SeenPod& out);

struct CacheSetup {
  client::ApiClient* client = nullptr;
  Mailbox* owner = nullptr;
  Mailbox* home = nullptr;  // where objects are decoded; null: the owner's thread
  Clock* clock = nullptr;
  Registry* metrics = nullptr;
};

inline constexpr std::string_view kTogetherIndex = "together";  // of jobs, by their mark
inline constexpr std::string_view kGangIndex = "gang";          // of pods

class Caches {
 public:
  explicit Caches(const CacheSetup& setup);
  void start();
  bool ready() const;
  std::string waitingFor() const;  // the first that is not there yet; "" when all are

  Look look(WallTime now) const;
  std::vector<JobView> jobViews() const;
  JobView viewOf(const api::PodMigrationJob& job) const;
  // Replicas and pods of the pod's controller: ReplicaSet (of its Deployment), StatefulSet,
  // ReplicationController. Others are not known here, and an error.
  Result<WorkloadView> workloadOf(const api::Pod& pod) const;
  bool hasLocalStorage(const api::Pod& pod) const;
  // Of "namespace/gang", those that have a node and have not ended.
  Pods membersOf(std::string_view gang) const;
  // The value of a PriorityClass that arguments name, in place of the one there; a class that is
  // missing is said and changes nothing.
  void resolvePriority(std::string_view name, std::optional<int64_t>& value) const;

  client::Informer<api::Node> nodes;
  client::Informer<SeenPod> pods;
  client::Informer<api::NodeMetric> metrics;
  client::Informer<api::PodMigrationJob> jobs;
  client::Informer<api::Reservation> reservations;
  client::Informer<api::Workload> replicaSets, deployments, statefulSets, replicationControllers;
  client::Informer<api::PriorityClass> priorityClasses;

 private:
  Result<WorkloadView> ofReplicaSet(const api::Pod& pod, const api::OwnerReference& owner) const;
  Result<WorkloadView> direct(const client::Informer<api::Workload>& from, const api::Pod& pod,
                              const api::OwnerReference& owner) const;
  void addPods(std::string_view controllerUid, Pods& out) const;
  std::string missing() const;
};

}  // namespace mangrove::descheduler
