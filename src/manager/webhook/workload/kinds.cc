// Where each kind of job keeps the templates of its pods, and what its gang looks like.
#include <algorithm>

#include <fmt/format.h>

#include "api/wire/names.h"
#include "base/text/strings.h"
#include "manager/webhook/draft.h"
#include "manager/webhook/workload/rewrite.h"

namespace mangrove::manager {
namespace {

using api::PriorityBand;
namespace annotation = api::annotation;

constexpr std::string_view kVolcano = "volcano";
constexpr int kTrainingWait = 600;  // seconds

// A number, or a text that is one, as configurations of Flink have it.
int64_t countIn(const json::Object& parent, std::string_view key, int64_t otherwise) {
  const json::Value* value = parent.if_contains(key);
  if (value != nullptr && value->is_int64()) return value->get_int64();
  const auto text = textIn(parent, key);
  return text ? parseInt<int64_t>(*text).value_or(otherwise) : otherwise;
}

template <class Value>
void setIfAbsent(json::Object& parent, std::string_view key, const Value& value) {
  if (!parent.contains(key)) parent[key] = value;
}

struct Gang {
  std::string name;
  int64_t min = 1;
  int64_t total = 0;  // 0: not said
  std::string_view mode = "Strict";
  std::string wait = "600s";
};

void join(json::Object& annotations, const Gang& gang) {
  setText(annotations, annotation::kGangName, gang.name);
  setText(annotations, annotation::kGangMinAvailable, std::to_string(gang.min));
  if (gang.total > 0)
    setText(annotations, annotation::kGangTotalNumber, std::to_string(gang.total));
  setText(annotations, annotation::kGangMode, gang.mode);
  setText(annotations, annotation::kGangWaitingTime, gang.wait);
  setText(annotations, annotation::kGangMatchPolicy, "once-satisfied");
}

int64_t leastExecutors(const json::Object& spec, const json::Object& executor) {
  const json::Object* dynamic = findObject(spec, "dynamicAllocation");
  const json::Value* enabled = dynamic ? dynamic->if_contains("enabled") : nullptr;
  if (enabled != nullptr && enabled->is_bool() && enabled->get_bool())
    return std::max<int64_t>(countIn(*dynamic, "minExecutors", 1), 1);
  return std::max<int64_t>(countIn(executor, "instances", 1), 1);
}

void markPodTemplate(json::Object& podTemplate, PriorityBand band, const Surroundings& around) {
  metadataOf(podTemplate);  // made first: a new member moves its neighbours
  json::Object& podSpec = objectIn(podTemplate, "spec");
  markTemplate(objectIn(metadataOf(podTemplate), "labels"), podSpec, band, around);
}

int64_t flinkManagers(const json::Object& spec) {
  const json::Object* manager = findObject(spec, "jobManager");
  return std::max<int64_t>(manager ? countIn(*manager, "replicas", 1) : 1, 1);
}

// As many as are said, else as many as the job's parallelism fills.
int64_t flinkWorkers(const json::Object& spec) {
  const json::Object* worker = findObject(spec, "taskManager");
  const int64_t said = worker ? countIn(*worker, "replicas", 0) : 0;
  if (said > 0) return said;
  const json::Object* job = findObject(spec, "job");
  const json::Object* settings = findObject(spec, "flinkConfiguration");
  const int64_t parallelism = job ? countIn(*job, "parallelism", 1) : 1;
  const int64_t slots =
      std::max<int64_t>(settings ? countIn(*settings, "taskmanager.numberOfTaskSlots", 1) : 1, 1);
  return std::max<int64_t>(parallelism / slots + (parallelism % slots > 0 ? 1 : 0), 1);
}

// Such a job takes whatever workers it gets.
bool isReactive(const json::Object& spec) {
  const json::Object* settings = findObject(spec, "flinkConfiguration");
  return settings != nullptr && textIn(*settings, "scheduler-mode") == "reactive";
}

Gang gangOf(const json::Object& spec, const WorkloadContext& context) {
  const json::Object* elastic = findObject(spec, "elasticPolicy");
  Gang out{gangName("pytorch", context.name, "job"), 0, 0, "Strict",
           fmt::format("{}s", kTrainingWait)};
  for (const auto& member : *findObject(spec, "pytorchReplicaSpecs")) {
    const json::Object* replica = member.value().if_object();
    const int64_t count = replica ? countIn(*replica, "replicas", 1) : 0;
    const bool worker = member.key() == "Worker";
    out.total += count;
    out.min += worker && elastic ? std::min(countIn(*elastic, "minReplicas", count), count) : count;
  }
  return out;
}

}  // namespace

// The driver makes the executors, so one gang of both would wait for itself: executors only.
// Volcano's gangs are groups that Spark's operator makes when it is told of Volcano.
void rewriteSpark(json::Object& application, const WorkloadContext& context) {
  json::Object& spec = objectIn(application, "spec");
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
  const int64_t least = leastExecutors(spec, executor);
  join(objectIn(executor, "annotations"),
       {gangName("spark", context.name, "executor"), least, 0, "NonStrict", "60s"});
}

// The template of all pods is the ground on which the operator lays those of the roles.
void rewriteFlink(json::Object& deployment, const WorkloadContext& context) {
  json::Object& spec = objectIn(deployment, "spec");
  const int64_t managers = flinkManagers(spec), workers = flinkWorkers(spec);
  const bool stays = context.critical == PriorityBand::kProd;  // and inherits nothing
  if (!stays) markPodTemplate(objectIn(spec, "podTemplate"), PriorityBand::kBatch, context.around);
  json::Object& manager = objectIn(objectIn(spec, "jobManager"), "podTemplate");
  markPodTemplate(manager, context.critical, context.around);
  if (!stays)
    join(objectIn(metadataOf(manager), "annotations"),
         {gangName("flink", context.name, "jobmanager"), managers, managers});
  json::Object& worker = objectIn(objectIn(spec, "taskManager"), "podTemplate");
  markPodTemplate(worker, PriorityBand::kBatch, context.around);
  join(objectIn(metadataOf(worker), "annotations"),
       {gangName("flink", context.name, "taskmanager"), isReactive(spec) ? 1 : workers, workers});
}

// Master and workers start together: as many workers as the elastic policy needs at least. The
// operator is told the same, for schedulers whose groups it makes.
void rewritePyTorch(json::Object& job, const WorkloadContext& context) {
  json::Object& spec = objectIn(job, "spec");
  if (findObject(spec, "pytorchReplicaSpecs") == nullptr) return;
  json::Object& scheduling = objectIn(objectIn(spec, "runPolicy"), "schedulingPolicy");
  const Gang gang = gangOf(spec, context);
  setIfAbsent(scheduling, "minAvailable", gang.min);
  setIfAbsent(scheduling, "scheduleTimeoutSeconds", kTrainingWait);
  setIfAbsent(scheduling, "priorityClass", api::bandName(PriorityBand::kBatch));
  for (auto& member : *findObject(spec, "pytorchReplicaSpecs")) {
    json::Object* replica = member.value().if_object();
    if (replica == nullptr) continue;
    json::Object& podTemplate = objectIn(*replica, "template");
    const bool master = member.key() == "Master";
    markPodTemplate(podTemplate, master ? context.critical : PriorityBand::kBatch, context.around);
    join(objectIn(metadataOf(podTemplate), "annotations"), gang);
  }
}

}  // namespace mangrove::manager
