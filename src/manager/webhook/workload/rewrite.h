#pragma once
// Jobs of Spark, Flink, Kubeflow, Ray, Volcano and Kubernetes whose author asks for colocation: labels,
// priority class, scheduler and gang go into the templates from which operators make pods. The pods
// themselves are rewritten when they come (pod/colocate.h), on top of their real requests.
//
// Asked for by label colocation.mangrove.io/colocate: "true" on the object or on its namespace.
// The critical part (driver, job manager, master) takes annotation
// colocation.mangrove.io/critical-component-class (batch, mid or prod); without it, a Spark driver
// of a job expected to run longer than 30 minutes (annotation
// colocation.mangrove.io/expected-duration) and every Flink job manager get mid, others batch.
// Where the scheduler is Volcano, Spark's operator is told so and makes the gang. Who must start
// together: executors of Spark, each role of Flink, master and workers of PyTorch, workers of MPI,
// head and workers of Ray, nodes of a TrainJob. Pods of a plain Job start one by one. Elsewhere (gate
// SparkReservations) a Spark driver must use a reservation, which the manager's controller spark
// makes for it and its executors together, so that it starts only where they fit too.
//
// Pure; any thread.

#include <string>
#include <string_view>

#include "api/pod/classes.h"
#include "api/workload/components.h"
#include "base/result.h"
#include "manager/pod_annotations.h"
#include "manager/webhook/admission.h"
#include "manager/webhook/surroundings.h"

namespace mangrove::manager {

inline constexpr std::string_view kColocate = "colocation.mangrove.io/colocate";
inline constexpr std::string_view kCriticalClass =
    "colocation.mangrove.io/critical-component-class";

// CREATE of the kinds that api/workload/components.h knows.
Review mutateWorkload(const AdmissionRequest& request, const Surroundings& around);

// "<kind>-<name>-<role>", at most 63 characters; longer ones are cut and end in a hash.
std::string gangName(std::string_view kind, std::string_view name, std::string_view role);

// The kinds, on the object's JSON.
struct WorkloadContext {
  std::string name;
  std::string ns;
  api::PriorityBand critical = api::PriorityBand::kBatch;
  const Surroundings& around;
  std::vector<api::Component> components;

  const api::Component* find(std::string_view component) const;
};
void rewriteSpark(json::Object& application, const WorkloadContext& context);
void rewriteFlink(json::Object& deployment, const WorkloadContext& context);
void rewritePyTorch(json::Object& job, const WorkloadContext& context);
void rewriteMpi(json::Object& job, const WorkloadContext& context);
void rewriteTrainJob(json::Object& job, const WorkloadContext& context);
void rewriteRay(json::Object& job, const WorkloadContext& context);
void rewriteJob(json::Object& job, const WorkloadContext& context);

// A gang of which the members of a template are told.
struct GangTerms {
  std::string name;
  int64_t min = 1;
  int64_t total = 0;  // 0: not said
  std::string_view mode = "Strict";
  std::string wait = "600s";
};
void joinGang(json::Object& annotations, const GangTerms& gang);
// Labels, class and scheduler on a pod template.
void markPodTemplate(json::Object& podTemplate, api::PriorityBand band, const Surroundings& around);

// What all of them put on one template. `podSpec` is where scheduler and priority class are members.
void markTemplate(json::Object& labels, json::Object& podSpec, api::PriorityBand band,
                  const Surroundings& around);

}  // namespace mangrove::manager
