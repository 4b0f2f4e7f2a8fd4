// Where each kind of job keeps the templates of its pods, and what its gang looks like. How many there
// are is counted in one place, api/workload/components.h.
#include <algorithm>

#include "api/wire/names.h"
#include "json/value.h"
#include "manager/controllers/spark/plan.h"
#include "manager/webhook/draft.h"
#include "manager/webhook/workload/rewrite.h"

namespace mangrove::manager {
namespace {

using api::PriorityBand;
namespace annotation = api::annotation;

constexpr std::string_view kVolcano = "volcano";
constexpr int kTrainingWait = 600;  // seconds

template <class Value>
void setIfAbsent(json::Object& parent, std::string_view key, const Value& value) {
  if (!parent.contains(key)) parent[key] = value;
}

int64_t leastOf(const WorkloadContext& context, std::string_view component) {
  const api::Component* found = context.find(component);
  return found ? std::max<int64_t>(found->minReplicas, 1) : 1;
}
int64_t allOf(const WorkloadContext& context, std::string_view component) {
  const api::Component* found = context.find(component);
  return found ? std::max<int64_t>(found->replicas, 1) : 1;
}

// Every component in one gang.
GangTerms wholeGang(const WorkloadContext& context, std::string_view kind, std::string_view role) {
  GangTerms out{gangName(kind, context.name, role), 0, 0};
  for (const api::Component& component : context.components) {
    out.min += component.minReplicas;
    out.total += component.replicas;
  }
  return out;
}

json::Object* templateIn(json::Value& parent) {
  json::Object* object = parent.if_object();
  return object ? &objectIn(*object, "template") : nullptr;
}

json::Object& annotationsOf(json::Object& podTemplate) {
  return objectIn(metadataOf(podTemplate), "annotations");
}

}  // namespace

void joinGang(json::Object& annotations, const GangTerms& gang) {
  setText(annotations, annotation::kGangName, gang.name);
  setText(annotations, annotation::kGangMinAvailable, std::to_string(gang.min));
  if (gang.total > 0)
    setText(annotations, annotation::kGangTotalNumber, std::to_string(gang.total));
  setText(annotations, annotation::kGangMode, gang.mode);
  setText(annotations, annotation::kGangWaitingTime, gang.wait);
  setText(annotations, annotation::kGangMatchPolicy, "once-satisfied");
}

// Only where room is kept for it and its executors (controllers/spark).
void mustReserve(json::Object& driver, const WorkloadContext& context) {
  const json::Object wanted{
      {"reservationSelector",
       json::Object{{kSparkOf, context.name}, {kSparkIn, context.ns}, {kSparkRole, "driver"}}}};
  setIfAbsent(objectIn(driver, "annotations"), annotation::kReservationAffinity,
              json::write(wanted));
}

void markPodTemplate(json::Object& podTemplate, PriorityBand band, const Surroundings& around) {
  metadataOf(podTemplate);  // made first: a new member moves its neighbours
  json::Object& podSpec = objectIn(podTemplate, "spec");
  markTemplate(objectIn(metadataOf(podTemplate), "labels"), podSpec, band, around);
}

// An executor that is evicted moves its blocks to others within its grace period, so that nothing of
// them is computed again. What the author says wins.
void letExecutorsMoveBlocks(json::Object& spec) {
  json::Object& conf = objectIn(spec, "sparkConf");
  for (std::string_view name : {"spark.decommission.enabled", "spark.storage.decommission.enabled",
                                "spark.storage.decommission.rddBlocks.enabled",
                                "spark.storage.decommission.shuffleBlocks.enabled"})
    setIfAbsent(conf, name, "true");
}

// The driver makes the executors, so one gang of both would wait for itself: executors only.
// Volcano's gangs are groups that Spark's operator makes when it is told of Volcano.
void rewriteSpark(json::Object& application, const WorkloadContext& context) {
  json::Object& spec = objectIn(application, "spec");
  letExecutorsMoveBlocks(spec);
  json::Object& driver = objectIn(spec, "driver");
  markTemplate(objectIn(driver, "labels"), driver, context.critical, context.around);
  json::Object& executor = objectIn(spec, "executor");
  markTemplate(objectIn(executor, "labels"), executor, PriorityBand::kBatch, context.around);
  if (textIn(executor, "schedulerName") == kVolcano) {
    setIfAbsent(spec, "batchScheduler", kVolcano);
    setIfAbsent(objectIn(spec, "batchSchedulerOptions"), "priorityClassName",
                api::bandName(PriorityBand::kBatch));
    return;
  }
  joinGang(objectIn(executor, "annotations"),
           {gangName("spark", context.name, "executor"), leastOf(context, "executor"), 0,
            "NonStrict", "60s"});
  if (context.around.gates.sparkReservations) mustReserve(objectIn(spec, "driver"), context);
}

// The template of all pods is the ground on which the operator lays those of the roles.
void rewriteFlink(json::Object& deployment, const WorkloadContext& context) {
  json::Object& spec = objectIn(deployment, "spec");
  const bool stays = context.critical == PriorityBand::kProd;  // and inherits nothing
  if (!stays) markPodTemplate(objectIn(spec, "podTemplate"), PriorityBand::kBatch, context.around);
  json::Object& manager = objectIn(objectIn(spec, "jobManager"), "podTemplate");
  markPodTemplate(manager, context.critical, context.around);
  const int64_t managers = allOf(context, "jobmanager");
  if (!stays)
    joinGang(annotationsOf(manager),
             {gangName("flink", context.name, "jobmanager"), managers, managers});
  json::Object& worker = objectIn(objectIn(spec, "taskManager"), "podTemplate");
  markPodTemplate(worker, PriorityBand::kBatch, context.around);
  joinGang(annotationsOf(worker), {gangName("flink", context.name, "taskmanager"),
                                   leastOf(context, "taskmanager"), allOf(context, "taskmanager")});
}

// Master and workers start together: as many workers as the elastic policy needs at least. The
// operator is told the same, for schedulers whose groups it makes.
void rewritePyTorch(json::Object& job, const WorkloadContext& context) {
  json::Object& spec = objectIn(job, "spec");
  if (findObject(spec, "pytorchReplicaSpecs") == nullptr) return;
  json::Object& scheduling = objectIn(objectIn(spec, "runPolicy"), "schedulingPolicy");
  const GangTerms gang = wholeGang(context, "pytorch", "job");
  setIfAbsent(scheduling, "minAvailable", gang.min);
  setIfAbsent(scheduling, "scheduleTimeoutSeconds", kTrainingWait);
  setIfAbsent(scheduling, "priorityClass", api::bandName(PriorityBand::kBatch));
  for (auto& member : *findObject(spec, "pytorchReplicaSpecs"))
    if (json::Object* podTemplate = templateIn(member.value())) {
      const bool master = member.key() == "Master";
      markPodTemplate(*podTemplate, master ? context.critical : PriorityBand::kBatch,
                      context.around);
      joinGang(annotationsOf(*podTemplate), gang);
    }
}

// The launcher may be made only once its workers are ready: workers only.
void rewriteMpi(json::Object& job, const WorkloadContext& context) {
  json::Object* replicas = findObject(objectIn(job, "spec"), "mpiReplicaSpecs");
  if (replicas == nullptr) return;
  const int64_t workers = allOf(context, "Worker");
  for (auto& member : *replicas)
    if (json::Object* podTemplate = templateIn(member.value())) {
      const bool launcher = member.key() == "Launcher";
      markPodTemplate(*podTemplate, launcher ? context.critical : PriorityBand::kBatch,
                      context.around);
      if (!launcher)
        joinGang(annotationsOf(*podTemplate),
                 {gangName("mpi", context.name, "worker"), workers, workers});
    }
}

// The pods' template lies in a runtime that many jobs share: an override of this job's nodes, behind
// which those of its author win. Priority class and scheduler are no members of overrides; pods get
// them when they come.
void rewriteTrainJob(json::Object& job, const WorkloadContext& context) {
  json::Object& spec = objectIn(job, "spec");
  const int64_t nodes = allOf(context, "node");
  json::Object labels, annotations, unused;
  markTemplate(labels, unused, PriorityBand::kBatch, context.around);
  joinGang(annotations, {gangName("train", context.name, "node"), nodes, nodes});
  const json::Object ours{
      {"targetJobs", json::Array{json::Object{{"name", "node"}}}},
      {"metadata", json::Object{{"labels", labels}, {"annotations", annotations}}}};
  json::Value& overrides = spec["podTemplateOverrides"];
  if (!overrides.is_array()) overrides = json::Array();
  json::Array& list = overrides.get_array();
  list.insert(list.begin(), ours);
}

void rewriteRay(json::Object& job, const WorkloadContext& context) {
  json::Object& cluster = objectIn(objectIn(job, "spec"), "rayClusterSpec");
  GangTerms gang = wholeGang(context, "ray", "cluster");
  gang.mode = "NonStrict";  // the autoscaler adds and takes workers
  json::Object& head = objectIn(objectIn(cluster, "headGroupSpec"), "template");
  markPodTemplate(head, context.critical, context.around);
  joinGang(annotationsOf(head), gang);
  json::Array* groups = findArray(cluster, "workerGroupSpecs");
  if (groups == nullptr) return;
  for (json::Value& group : *groups)
    if (json::Object* podTemplate = templateIn(group)) {
      markPodTemplate(*podTemplate, PriorityBand::kBatch, context.around);
      joinGang(annotationsOf(*podTemplate), gang);
    }
}

// Pods of a plain Job need not start together; Volcano makes the groups of its own jobs.
void rewriteJob(json::Object& job, const WorkloadContext& context) {
  json::Object& spec = objectIn(job, "spec");
  if (json::Array* tasks = findArray(spec, "tasks")) {
    for (json::Value& task : *tasks)
      if (json::Object* podTemplate = templateIn(task))
        markPodTemplate(*podTemplate, PriorityBand::kBatch, context.around);
    return;
  }
  markPodTemplate(objectIn(spec, "template"), PriorityBand::kBatch, context.around);
}

}  // namespace mangrove::manager
