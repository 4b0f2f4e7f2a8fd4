// Where each kind of job keeps the templates of its pods, and what its gang looks like.
#include <algorithm>

#include "api/names.h"
#include "manager/webhook/draft.h"
#include "manager/webhook/workload/rewrite.h"

namespace mangrove::manager {
namespace {

using api::PriorityBand;
namespace annotation = api::annotation;

int64_t countIn(const json::Object& parent, std::string_view key, int64_t otherwise) {
  const json::Value* value = parent.if_contains(key);
  return value != nullptr && value->is_int64() ? value->get_int64() : otherwise;
}

struct Gang {
  std::string name;
  int64_t min = 1;
  int64_t total = 0;  // 0: not said
  std::string_view mode = "Strict";
  std::string_view wait = "600s";
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

}  // namespace

// The driver makes the executors, so one gang of both would wait for itself: executors only.
void rewriteSpark(json::Object& application, const WorkloadContext& context) {
  json::Object& spec = objectIn(application, "spec");
  json::Object& driver = objectIn(spec, "driver");
  markTemplate(objectIn(driver, "labels"), driver, context.critical, context.around);
  json::Object& executor = objectIn(spec, "executor");
  markTemplate(objectIn(executor, "labels"), executor, PriorityBand::kBatch, context.around);
  const int64_t least = leastExecutors(spec, executor);
  join(objectIn(objectIn(spec, "executor"), "annotations"),
       {gangName("spark", context.name, "executor"), least, 0, "NonStrict", "60s"});
}

void rewriteFlink(json::Object& deployment, const WorkloadContext& context) {
  json::Object& spec = objectIn(deployment, "spec");
  json::Object& manager = objectIn(objectIn(spec, "jobManager"), "podTemplate");
  markPodTemplate(manager, context.critical, context.around);
  json::Object& workers = objectIn(objectIn(spec, "taskManager"), "podTemplate");
  markPodTemplate(workers, PriorityBand::kBatch, context.around);
}

// Master and workers start together: as many workers as the elastic policy needs at least.
void rewritePyTorch(json::Object& job, const WorkloadContext& context) {
  json::Object& spec = objectIn(job, "spec");
  json::Object* replicas = findObject(spec, "pytorchReplicaSpecs");
  if (replicas == nullptr) return;
  const json::Object* elastic = findObject(spec, "elasticPolicy");
  Gang gang{gangName("pytorch", context.name, "job"), 0, 0, "Strict", "600s"};
  for (const auto& member : *replicas) {
    const json::Object* replica = member.value().if_object();
    const int64_t count = replica ? countIn(*replica, "replicas", 1) : 0;
    const bool worker = member.key() == "Worker";
    gang.total += count;
    gang.min +=
        worker && elastic ? std::min(countIn(*elastic, "minReplicas", count), count) : count;
  }
  for (auto& member : *replicas) {
    json::Object* replica = member.value().if_object();
    if (replica == nullptr) continue;
    json::Object& podTemplate = objectIn(*replica, "template");
    const bool master = member.key() == "Master";
    markPodTemplate(podTemplate, master ? context.critical : PriorityBand::kBatch, context.around);
    join(objectIn(metadataOf(podTemplate), "annotations"), gang);
  }
}

}  // namespace mangrove::manager
