#pragma once
// Spark, Flink and PyTorch jobs whose author asks for colocation: labels,
// priority class, scheduler and gang go into the templates from which operators make pods. The pods
// themselves are rewritten when they come (pod/colocate.h), on top of their real requests.
//
// Asked for by label colocation.mangrove.io/colocate: "true" on the object or on its namespace.
// The critical part (driver, job manager, master) takes annotation
// colocation.mangrove.io/critical-component-class (batch, mid or prod); without it, a Spark driver
// of a job expected to run longer than 30 minutes (annotation
// colocation.mangrove.io/expected-duration) and every Flink job manager get mid, others batch.
// Where the scheduler is Volcano, Spark's operator is told so and makes the gang.
//
// Pure; any thread.

#include <string>
#include <string_view>

#include "api/pod/classes.h"
#include "base/result.h"
#include "manager/pod_annotations.h"
#include "manager/webhook/admission.h"
#include "manager/webhook/surroundings.h"

namespace mangrove::manager {

inline constexpr std::string_view kColocate = "colocation.mangrove.io/colocate";
inline constexpr std::string_view kCriticalClass =
    "colocation.mangrove.io/critical-component-class";

// CREATE of sparkapplications, flinkdeployments and pytorchjobs.
Review mutateWorkload(const AdmissionRequest& request, const Surroundings& around);

// "<kind>-<name>-<role>", at most 63 characters; longer ones are cut and end in a hash.
std::string gangName(std::string_view kind, std::string_view name, std::string_view role);

// The three kinds, on the object's JSON.
struct WorkloadContext {
  std::string name;
  api::PriorityBand critical = api::PriorityBand::kBatch;
  const Surroundings& around;
};
void rewriteSpark(json::Object& application, const WorkloadContext& context);
void rewriteFlink(json::Object& deployment, const WorkloadContext& context);
void rewritePyTorch(json::Object& job, const WorkloadContext& context);

// What all three put on one template. `podSpec` is where scheduler and priority class are members.
void markTemplate(json::Object& labels, json::Object& podSpec, api::PriorityBand band,
                  const Surroundings& around);

}  // namespace mangrove::manager
