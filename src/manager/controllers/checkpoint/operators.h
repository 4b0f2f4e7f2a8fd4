#pragma once
// Mode "operator" of the checkpoint contract (docs/checkpoint.md): jobs that save through the operator
// that runs them. What is asked of the operator for a job some of whose pods shall go, and when the
// job goes on.
//
//   Flink:   the job is suspended with a savepoint (last-state where it does not run), and goes on
//            when the pods are gone, a minute after the request at the earliest.
//   PyTorch: an elastic job shrinks to what its minimum allows, and grows again after ten minutes in
//            which nobody asked.
//
//   OperatorStep step = flinkStep(deployment, askedPods, now);
//
// What was changed is written on the job itself, so that whoever comes after a crash knows what to
// give back. Pure functions, any thread.

#include <optional>
#include <string>
#include <vector>

#include "api/annotations/checkpoint.h"
#include "api/object/meta.h"
#include "api/wire/kind.h"
#include "json/value.h"

namespace mangrove::manager {

inline constexpr api::Kind kFlinkKind{"flink.apache.org", "v1beta1", "FlinkDeployment",
                                      "flinkdeployments", true,      true};
inline constexpr api::Kind kPyTorchKind{"kubeflow.org", "v1", "PyTorchJob",
                                        "pytorchjobs",  true, true};
// On the job: since when it is held back, and what it had before.
inline constexpr std::string_view kHeldBack = "colocation.mangrove.io/held-back";

// A pod that was asked to save through its operator.
struct AskedPod {
  std::string job;  // "flink|ns/name" or "pytorch|ns/name"; "": of no operator that is known
  std::string ns, name;
  std::string uid;
  std::string role;  // "taskmanager", "worker"; index of a worker in `index`
  int64_t index = -1;
  api::SaidCheckpoint said;
  // Asked, not answered, and the time has come.
  bool isOpen(WallTime now) const;
};

// A pod as the controller follows it: null unless it was asked and saves through an operator.
struct MaybeAsked {
  std::shared_ptr<const AskedPod> asked;
};
bool read(const api::In& in, MaybeAsked& out);

// What a job had before it was held back.
struct HeldBack {
  WallTime at = kZeroTime;
  std::string upgradeMode = {};  // Flink
  int64_t replicas = 0;          // PyTorch
  bool operator==(const HeldBack&) const = default;
};
bool read(const api::In& in, HeldBack& out);
json::Value toJson(const HeldBack& value);

struct FlinkJob {
  api::ObjectMeta meta;
  bool hasJob = false;                // a session cluster has none
  std::string state, upgradeMode;     // spec.job
  std::string runs;                   // status.jobStatus.state: RUNNING, FINISHED, …
  std::string lifecycle;              // status.lifecycleState: STABLE, SUSPENDED, …
  std::optional<WallTime> savepoint;  // of the last one
};
bool read(const api::In& in, FlinkJob& out);

struct PyTorchJob {
  api::ObjectMeta meta;
  int64_t workers = 0;
  std::optional<int64_t> least;  // elasticPolicy.minReplicas
};
bool read(const api::In& in, PyTorchJob& out);

struct SavedPod {
  std::string ns, name;
  WallTime at;
};
struct OperatorStep {
  std::optional<json::Object> patch;  // of the job
  std::vector<SavedPod> saved;        // these have saved: checkpoint-last
  std::string told;                   // an Event about the job
  std::string trouble;                // cannot be asked, and why
  std::optional<Duration> again;      // look again then
};

inline constexpr Duration kRest = std::chrono::seconds(60);
inline constexpr Duration kGrowAfter = std::chrono::minutes(10);

using AskedPods = std::vector<std::shared_ptr<const AskedPod>>;
OperatorStep flinkStep(const FlinkJob& job, const AskedPods& asked, WallTime now);
OperatorStep pyTorchStep(const PyTorchJob& job, const AskedPods& asked, WallTime now);

}  // namespace mangrove::manager
