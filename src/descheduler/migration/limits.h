#pragma once
// How many migrations may be under way at once: in the cluster, on a node, in a namespace, of a
// workload. What is under way is counted once and then asked about many pods.
//
//   LiveJobs live(jobs);
//   if (auto refusal = refusedByLimits(pod, limits, live, workloads)) …  "node n1 has 2 migrations …"
//
// Pure functions, any thread.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "api/pod/pod.h"
#include "api/wire/decode.h"
#include "base/result.h"
#include "descheduler/look.h"

namespace mangrove::descheduler {

// A PodMigrationJob, as far as limits and order look at it.
struct JobView {
  std::string name;
  std::string podKey;  // "namespace/name"
  std::string podUid;  // "": not known yet
  std::string phase;   // "" is Pending
  bool arbitrated = false;
  WallTime created{};
  std::string together = {};      // the mark of jobs that move together; "": it moves alone
  const api::Pod* pod = nullptr;  // nullptr: there is none of that name
};
bool isPending(const JobView& job);
bool isLive(const JobView& job);  // Pending or Running

// The jobs that count, and whom they move. While jobs are arbitrated a waiting one does not count
// until it has passed.
class LiveJobs {
 public:
  enum class Count { kAllLive, kArbitrated };
  LiveJobs() = default;
  LiveJobs(std::span<const JobView> jobs, Count count);
  void add(const JobView& job);

  // Of others than this pod.
  size_t total(const api::Pod& pod) const;
  size_t inNamespace(const api::Pod& pod) const;
  size_t onNode(const api::Pod& pod) const;                       // pods
  std::set<std::string> ofController(const api::Pod& pod) const;  // keys of pods
  bool hasJob(const api::Pod& pod) const;                         // by uid, or by its name

 private:
  size_t own(const api::Pod& pod) const;

  size_t total_ = 0;
  std::map<std::string, size_t, std::less<>> byNamespace_;
  std::map<std::string, size_t, std::less<>> byPod_;  // by key
  std::set<std::string, std::less<>> uids_;
  std::map<std::string, std::set<std::string>, std::less<>> byNode_;
  std::map<std::string, std::set<std::string>, std::less<>> byController_;
};

// Replicas and pods of what controls a pod. A Deployment's pods are those of all its ReplicaSets.
struct WorkloadView {
  int64_t replicas = 0;
  Pods pods;
};
using WorkloadOf = std::function<Result<WorkloadView>(const api::Pod& pod)>;

struct MigrationLimits {
  std::optional<int64_t> globally;  // these three: nothing or at most 0 is no limit
  std::optional<int64_t> perNode;
  std::optional<int64_t> perNamespace;
  std::optional<api::IntOrString> perWorkload;
  std::optional<api::IntOrString> unavailable;
  bool skipReplicasCheck = false;
  bool skipWorkloadMigrating = false;
  bool skipWorkloadUnavailable = false;
};

// For pods of a gang that moves whole: its workload stops anyway, so that shares of it say nothing.
MigrationLimits asOneMove(MigrationLimits limits);

// Of n replicas: the number or the share (rounded down) that is given; without one a tenth of more
// than ten, 2 of four to ten, 1 of fewer. At least 1, at most n. 11 replicas: 1; 10 replicas: 2.
Result<int64_t> maxOfWorkload(int64_t replicas, const std::optional<api::IntOrString>& given);

// Nobody is taken from a workload that could not do without: one replica, or as few as may be moved
// at once. nullopt: fine. A pod without a controller is none of its business.
std::optional<std::string> refusedByReplicas(const api::Pod& pod, const MigrationLimits& limits,
                                             const WorkloadOf& workloadOf);
// Why this pod has to wait; nullopt: it has not.
std::optional<std::string> refusedByLimits(const api::Pod& pod, const MigrationLimits& limits,
                                           const LiveJobs& live, const WorkloadOf& workloadOf);

}  // namespace mangrove::descheduler
