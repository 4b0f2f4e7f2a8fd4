// Jobs whose components are pod templates: Kubeflow's, Ray's, Volcano's and Kubernetes' own.
#include <algorithm>

#include "api/pod/pod.h"
#include "api/pod/pod_requests.h"
#include "api/workload/components.h"

namespace mangrove::api {
namespace {

struct JobTemplate {
  PodTemplate pod;
  NodeClaim claim;
};

}  // namespace

static bool read(const In& in, JobTemplate& out) {
  const json::View spec = in.view["spec"];
  return read(in, out.pod) && (!spec.isObject() || read(in.member("spec", spec), out.claim));
}

namespace {

Component templateComponent(std::string name, const JobTemplate& from, int64_t replicas) {
  Component out{.name = std::move(name)};
  out.replicas = out.minReplicas = out.maxReplicas = std::max<int64_t>(replicas, 0);
  out.requests = podRequests(*from.pod.spec);
  out.limits = podLimits(*from.pod.spec);
  out.claim = from.claim;
  return out;
}

// ---- Kubeflow --------------------------------------------------------------------------------

struct Replica {
  int64_t replicas = 1;
  JobTemplate pod;
};
struct Elastic {
  std::optional<int64_t> least, most;
};
struct ReplicaJob {
  std::map<std::string, Replica> replicas;
  Elastic elastic;
};

}  // namespace

static bool read(const In& in, Replica& out) {
  static constexpr Fields fields{field<&Replica::replicas>("replicas"),
                                 field<&Replica::pod>("template")};
  return fields.read(in, out);
}
static bool read(const In& in, Elastic& out) {
  static constexpr Fields fields{field<&Elastic::least>("minReplicas"),
                                 field<&Elastic::most>("maxReplicas")};
  return fields.read(in, out);
}
static bool readReplicaSpec(const In& in, ReplicaJob& out) {
  static constexpr Fields fields{
      field<&ReplicaJob::replicas>("pytorchReplicaSpecs"),
      field<&ReplicaJob::replicas>("tfReplicaSpecs"),
      field<&ReplicaJob::replicas>("mpiReplicaSpecs"),
      field<&ReplicaJob::elastic>("elasticPolicy"),
  };
  return fields.read(in, out);
}
static bool read(const In& in, ReplicaJob& out) {
  static constexpr Fields fields{via<readReplicaSpec>("spec")};
  return fields.read(in, out);
}

Result<std::vector<Component>> replicaSpecComponents(json::View object) {
  const auto job = decode<ReplicaJob>(object);
  if (!job) return pass(job.error());
  std::vector<Component> out;
  for (const auto& [name, replica] : job->replicas) {
    Component one = templateComponent(name, replica.pod, replica.replicas);
    one.critical = name == "Master" || name == "Chief" || name == "Launcher";
    if (name == "Worker" && job->elastic.least)
      one.minReplicas = std::clamp<int64_t>(*job->elastic.least, 0, one.replicas);
    if (name == "Worker" && job->elastic.most)
      one.maxReplicas = std::max(*job->elastic.most, one.replicas);
    out.push_back(std::move(one));
  }
  return out;
}

// ---- TrainJob: the template lies in a runtime; the object says how many and how large ---------

namespace {

struct Resources {
  ResourceList requests, limits;
};
struct TrainJob {
  int64_t nodes = 1;
  Resources perNode;
};

}  // namespace

static bool read(const In& in, Resources& out) {
  static constexpr Fields fields{field<&Resources::requests>("requests"),
                                 field<&Resources::limits>("limits")};
  return fields.read(in, out);
}
static bool readTrainer(const In& in, TrainJob& out) {
  static constexpr Fields fields{field<&TrainJob::nodes>("numNodes"),
                                 field<&TrainJob::perNode>("resourcesPerNode")};
  return fields.read(in, out);
}
static bool readTrainSpec(const In& in, TrainJob& out) {
  static constexpr Fields fields{via<readTrainer>("trainer")};
  return fields.read(in, out);
}
static bool read(const In& in, TrainJob& out) {
  static constexpr Fields fields{via<readTrainSpec>("spec")};
  return fields.read(in, out);
}

Result<std::vector<Component>> trainJobComponents(json::View object) {
  const auto job = decode<TrainJob>(object);
  if (!job) return pass(job.error());
  Component node = templateComponent("node", {}, std::max<int64_t>(job->nodes, 1));
  node.requests = job->perNode.requests.empty() ? job->perNode.limits : job->perNode.requests;
  node.limits = job->perNode.limits;
  return std::vector{std::move(node)};
}

// ---- Ray --------------------------------------------------------------------------------------

namespace {

struct WorkerGroup {
  std::string name;
  std::optional<int64_t> replicas, least, most;
  JobTemplate pod;
};
struct RayJob {
  JobTemplate head;
  std::vector<WorkerGroup> groups;
};

}  // namespace

static bool read(const In& in, WorkerGroup& out) {
  static constexpr Fields fields{
      field<&WorkerGroup::name>("groupName"),    field<&WorkerGroup::replicas>("replicas"),
      field<&WorkerGroup::least>("minReplicas"), field<&WorkerGroup::most>("maxReplicas"),
      field<&WorkerGroup::pod>("template"),
  };
  return fields.read(in, out);
}
static bool readHead(const In& in, RayJob& out) {
  static constexpr Fields fields{field<&RayJob::head>("template")};
  return fields.read(in, out);
}
static bool readCluster(const In& in, RayJob& out) {
  static constexpr Fields fields{via<readHead>("headGroupSpec"),
                                 field<&RayJob::groups>("workerGroupSpecs")};
  return fields.read(in, out);
}
static bool readRaySpec(const In& in, RayJob& out) {
  static constexpr Fields fields{via<readCluster>("rayClusterSpec")};
  return fields.read(in, out);
}
static bool read(const In& in, RayJob& out) {
  static constexpr Fields fields{via<readRaySpec>("spec")};
  return fields.read(in, out);
}

Result<std::vector<Component>> rayComponents(json::View object) {
  const auto job = decode<RayJob>(object);
  if (!job) return pass(job.error());
  std::vector<Component> out{templateComponent("head", job->head, 1)};
  out.front().critical = true;
  for (const WorkerGroup& group : job->groups) {
    const int64_t least = std::max<int64_t>(group.least.value_or(0), 0);
    Component one =
        templateComponent(group.name, group.pod, std::max(group.replicas.value_or(0), least));
    one.minReplicas = group.least ? least : one.replicas;
    one.maxReplicas = std::max(group.most.value_or(one.replicas), one.replicas);
    out.push_back(std::move(one));
  }
  return out;
}

// ---- Kubernetes' and Volcano's jobs -------------------------------------------------------------

namespace {

struct VolcanoTask {
  std::string name;
  int64_t replicas = 1;
  std::optional<int64_t> least;
  JobTemplate pod;
};
struct PlainJob {
  std::optional<int64_t> parallelism, completions;
  JobTemplate pod;
  std::vector<VolcanoTask> tasks;  // Volcano
};

}  // namespace

static bool read(const In& in, VolcanoTask& out) {
  static constexpr Fields fields{
      field<&VolcanoTask::name>("name"),
      field<&VolcanoTask::replicas>("replicas"),
      field<&VolcanoTask::least>("minAvailable"),
      field<&VolcanoTask::pod>("template"),
  };
  return fields.read(in, out);
}
static bool readJobSpec(const In& in, PlainJob& out) {
  static constexpr Fields fields{
      field<&PlainJob::parallelism>("parallelism"),
      field<&PlainJob::completions>("completions"),
      field<&PlainJob::pod>("template"),
      field<&PlainJob::tasks>("tasks"),
  };
  return fields.read(in, out);
}
static bool read(const In& in, PlainJob& out) {
  static constexpr Fields fields{via<readJobSpec>("spec")};
  return fields.read(in, out);
}

Result<std::vector<Component>> jobComponents(json::View object) {
  const auto job = decode<PlainJob>(object);
  if (!job) return pass(job.error());
  std::vector<Component> out;
  for (const VolcanoTask& task : job->tasks) {
    Component one = templateComponent(task.name, task.pod, task.replicas);
    if (task.least) one.minReplicas = std::clamp<int64_t>(*task.least, 0, one.replicas);
    out.push_back(std::move(one));
  }
  if (!out.empty()) return out;
  const int64_t most = job->completions.value_or(job->parallelism.value_or(1));
  out.push_back(templateComponent(
      "pod", job->pod, std::min(job->parallelism.value_or(1), std::max<int64_t>(most, 1))));
  out.front().minReplicas = std::min<int64_t>(out.front().replicas, 1);  // each by itself
  return out;
}

}  // namespace mangrove::api
