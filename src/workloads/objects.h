#pragma once
// The workload kinds as their controllers read them: the fields a controller decides by, the pod
// template and the status as raw JSON because they are handed on or patched, never interpreted.
//
//   auto deployment = api::decode<Deployment>(view);
//
// Values; informers hand out shared_ptr<const T>, const access from any thread.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/object/meta.h"
#include "api/select/label_selector.h"
#include "api/wire/decode.h"
#include "api/wire/kind.h"

namespace mangrove::workloads {

inline constexpr api::Kind kControllerRevision{
    "apps", "v1", "ControllerRevision", "controllerrevisions", true, false};
inline constexpr api::Kind kEndpoints{"", "v1", "Endpoints", "endpoints", true, false};
inline constexpr api::Kind kEndpointSlice{"discovery.k8s.io", "v1", "EndpointSlice",
                                          "endpointslices",   true, false};

// A condition with both of its times; api::Condition drops the first.
struct WorkloadCondition {
  std::string type, status, reason, message;
  WallTime lastUpdateTime = kZeroTime;
  WallTime lastTransitionTime = kZeroTime;
};
bool read(const api::In& in, WorkloadCondition& out);

// What all of them have.
struct WorkloadHead {
  api::ObjectMeta meta;
  std::optional<api::LabelSelector> selector;
  api::RawJson podTemplate;
  int32_t replicas = 1;
  int32_t minReadySeconds = 0;
  int32_t revisionHistoryLimit = 10;
  int64_t observedGeneration = 0;
  int64_t collisionCount = 0;
  std::vector<WorkloadCondition> conditions;
};

struct ReplicaSet : WorkloadHead {
  int32_t statusReplicas = 0;
  int32_t ready = 0;
  int32_t available = 0;
};
bool read(const api::In& in, ReplicaSet& out);

// Its selector is written as a plain map.
struct ReplicationController : ReplicaSet {};
bool read(const api::In& in, ReplicationController& out);

struct Deployment : WorkloadHead {
  std::string strategy = "RollingUpdate";  // or Recreate
  std::optional<api::IntOrString> maxSurge, maxUnavailable;
  int32_t progressDeadlineSeconds = 600;
  bool paused = false;
  int32_t statusReplicas = 0, updated = 0, ready = 0, available = 0;  // status
};
bool read(const api::In& in, Deployment& out);

struct StatefulSet : WorkloadHead {
  std::string podManagement = "OrderedReady";    // or Parallel
  std::string updateStrategy = "RollingUpdate";  // or OnDelete
  int32_t partition = 0;
  int32_t firstOrdinal = 0;
  std::string serviceName;
  std::vector<api::RawJson> claimTemplates;
  // What becomes of the pods' claims when the set is deleted or made smaller: Retain or Delete.
  std::string claimsWhenDeleted = "Retain", claimsWhenScaled = "Retain";
  std::string currentRevision, updateRevision;  // status
};
bool read(const api::In& in, StatefulSet& out);

struct DaemonSet : WorkloadHead {
  std::string updateStrategy = "RollingUpdate";
  std::optional<api::IntOrString> maxUnavailable;
  std::optional<api::IntOrString> maxSurge;
};
bool read(const api::In& in, DaemonSet& out);

struct Job : WorkloadHead {
  std::optional<int32_t> completions;
  int32_t parallelism = 1;
  int32_t backoffLimit = 6;
  std::optional<int64_t> activeDeadlineSeconds;
  std::optional<int32_t> ttlSecondsAfterFinished;
  bool indexed = false;
  bool suspend = false;
  api::RawJson podFailurePolicy, successPolicy;
  std::optional<int32_t> backoffLimitPerIndex, maxFailedIndexes;
  std::string podReplacementPolicy;  // Failed: a pod that goes keeps its place until it has ended
  std::string managedBy;             // "" and Kubernetes' own name: by us
  // status
  WallTime startTime = kZeroTime, completionTime = kZeroTime;
  int32_t succeeded = 0, failed = 0;
  std::string completedIndexes, failedIndexes;
  std::vector<std::string> uncountedSucceeded, uncountedFailed;  // uids
};
bool read(const api::In& in, Job& out);

struct CronJob {
  api::ObjectMeta meta;
  std::string schedule;
  std::string timeZone;
  std::string concurrencyPolicy = "Allow";  // Forbid, Replace
  std::optional<int64_t> startingDeadlineSeconds;
  bool suspend = false;
  int32_t keepSucceeded = 3, keepFailed = 1;
  api::RawJson jobTemplate;
  WallTime lastScheduleTime = kZeroTime;
  WallTime lastSuccessfulTime = kZeroTime;
};
bool read(const api::In& in, CronJob& out);

struct ControllerRevision {
  api::ObjectMeta meta;
  int64_t revision = 0;
  api::RawJson data;
};
bool read(const api::In& in, ControllerRevision& out);

struct ServicePort {
  std::string name;
  std::string protocol = "TCP";
  int32_t port = 0;
  api::IntOrString targetPort;
  std::string appProtocol;
};
bool read(const api::In& in, ServicePort& out);

struct Service {
  api::ObjectMeta meta;
  api::Labels selector;
  std::string type = "ClusterIP";
  std::string clusterIp;
  std::vector<ServicePort> ports;
  bool publishNotReady = false;
};
bool read(const api::In& in, Service& out);

// "25%" of `whole`, or the number itself. Never negative.
int32_t scaled(const std::optional<api::IntOrString>& value, int32_t whole, bool roundUp,
               int32_t fallback);

}  // namespace mangrove::workloads
