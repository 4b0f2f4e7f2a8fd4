#pragma once
// What owns pods: Deployment, ReplicaSet, StatefulSet, DaemonSet, ReplicationController, Job. One
// struct for all, because we ask all of them the same: how many there should be, how many there
// are, which pods are theirs.
//
//   auto rs = decode<Workload>(view);
//   rs->wanted, rs->ready, compile(rs->selector)
//
// Values; informers hand out shared_ptr<const T>, const access from any thread.

#include <cstdint>
#include <optional>
#include <vector>

#include "api/object/condition.h"
#include "api/object/meta.h"
#include "api/pod/pod.h"
#include "api/select/label_selector.h"
#include "api/wire/decode.h"

namespace mangrove::api {

struct Workload {
  ObjectMeta meta;
  // spec
  int32_t wanted = 1;  // replicas; a Job's parallelism; a DaemonSet's desiredNumberScheduled
  std::optional<int32_t> completions;  // Job
  std::optional<int32_t> backoffLimit;
  std::optional<IntOrString> maxUnavailable;  // of the rolling update
  std::optional<IntOrString> maxSurge;
  std::optional<LabelSelector> selector;  // a ReplicationController's map too
  PodTemplate podTemplate;
  bool paused = false;     // Deployment
  bool suspended = false;  // Job
  // status
  int32_t replicas = 0;  // pods that exist; a Job's active ones
  int32_t ready = 0;
  int32_t available = 0;
  int32_t updated = 0;
  int32_t succeeded = 0;
  int32_t failed = 0;
  int64_t observedGeneration = 0;
  std::vector<Condition> conditions;
};
bool read(const In& in, Workload& out);

}  // namespace mangrove::api
