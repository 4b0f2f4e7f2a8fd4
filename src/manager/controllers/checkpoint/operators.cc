#include "manager/controllers/checkpoint/operators.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "api/wire/decode.h"
#include "api/wire/schema.h"
#include "api/wire/write.h"
#include "base/number/elapsed.h"
#include "base/text/strings.h"
#include "base/text/time_text.h"

namespace mangrove::manager {
namespace {

using Mode = api::Checkpoint::Mode;
using Step = api::CheckpointStep::Step;

constexpr std::string_view kSuspended = "suspended", kRunning = "running";

// ---- who a pod is of --------------------------------------------------------------------------

int64_t indexOf(std::string_view text) {
  int64_t out = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() ? out : -1;
}

void setJob(const api::ObjectMeta& meta, AskedPod& out) {
  const auto label = [&](std::string_view name) {
    return std::string(meta.labels.get(name).value_or(""));
  };
  const std::string ns = meta.ns.str();
  if (label("type").starts_with("flink") && !label("app").empty()) {
    out.job = "flink|" + ns + "/" + label("app");
    out.role = label("component");
  } else if (!label("training.kubeflow.org/job-name").empty()) {
    out.job = "pytorch|" + ns + "/" + label("training.kubeflow.org/job-name");
    out.role = lower(label("training.kubeflow.org/replica-type"));
    out.index = indexOf(label("training.kubeflow.org/replica-index"));
  }
}

// ---- what is written on the job -----------------------------------------------------------------

json::Object annotated(json::Object spec, const std::optional<HeldBack>& held) {
  const json::Value text = held ? json::Value(api::annotationText(*held)) : json::Value(nullptr);
  return {{"metadata", {{"annotations", {{kHeldBack, text}}}}}, {"spec", std::move(spec)}};
}

std::optional<HeldBack> heldBack(const api::ObjectMeta& meta) {
  const auto said = api::parseAnnotation<HeldBack>(meta.annotations, kHeldBack);
  return said ? *said : std::nullopt;
}

AskedPods openOf(const AskedPods& asked, WallTime now) {
  AskedPods out;
  std::copy_if(asked.begin(), asked.end(), std::back_inserter(out),
               [&](const auto& one) { return one->isOpen(now); });
  return out;
}

// ---- Flink --------------------------------------------------------------------------------------

json::Object suspension(const FlinkJob& job, WallTime at) {
  const bool runs = job.runs == "RUNNING";
  return annotated(
      {{"job", {{"state", kSuspended}, {"upgradeMode", runs ? "savepoint" : "last-state"}}}},
      HeldBack{at, job.upgradeMode, 0});
}

bool hasStopped(const FlinkJob& job) {
  return lower(job.lifecycle) == kSuspended || job.runs == "FINISHED" || job.runs == "SUSPENDED";
}

void noteSaved(const FlinkJob& job, const HeldBack& held, const AskedPods& open, WallTime now,
               OperatorStep& out) {
  const bool fresh = job.savepoint && *job.savepoint >= held.at;
  if (!fresh && !hasStopped(job)) return;
  for (const auto& pod : open)
    out.saved.push_back({pod->ns, pod->name, fresh ? *job.savepoint : now});
}

// It goes on where there is room; the pods that were to go are gone.
void goOn(const FlinkJob& job, const HeldBack& held, const AskedPods& open, WallTime now,
          OperatorStep& out) {
  const Duration rested = elapsed(held.at, now);
  if (job.state == kSuspended) {
    if (rested < kRest || !open.empty() || !hasStopped(job)) {
      out.again = std::max<Duration>(kRest - rested, std::chrono::seconds(2));
      return;
    }
    out.patch = json::Object{{"spec", {{"job", {{"state", kRunning}}}}}};
    out.told = "goes on from its savepoint";
  } else if (job.runs == "RUNNING") {  // and has its own way of upgrading again
    out.patch =
        annotated({{"job",
                    {{"upgradeMode", held.upgradeMode.empty() ? json::Value(nullptr)
                                                              : json::Value(held.upgradeMode)}}}},
                  std::nullopt);
  }
}

}  // namespace

bool AskedPod::isOpen(WallTime now) const {
  return api::stepOf(said, now).step == Step::kWait && now >= said.request->notBefore;
}

bool read(const api::In& in, MaybeAsked& out) {
  api::ObjectHead head;
  if (!read(in, head)) return false;
  if (!head.meta.annotations.has(api::annotation::kCheckpointRequest)) return true;
  AskedPod pod;
  pod.said = api::saidCheckpoint(head.meta.annotations);
  if (!pod.said.contract || pod.said.contract->mode != Mode::kOperator || !pod.said.request)
    return true;
  setJob(head.meta, pod);
  pod.ns = head.meta.ns.str();
  pod.name = head.meta.name.str();
  pod.uid = head.meta.uid.str();
  out.asked = std::make_shared<const AskedPod>(std::move(pod));
  return true;
}

static constexpr api::Schema kHeldSchema{
    api::always<&HeldBack::at>("at"),
    api::unlessUnset<&HeldBack::upgradeMode>("upgradeMode"),
    api::unlessUnset<&HeldBack::replicas>("replicas"),
};
bool read(const api::In& in, HeldBack& out) {
  return kHeldSchema.read(in, out);
}
json::Value toJson(const HeldBack& value) {
  return kHeldSchema.write(value);
}

OperatorStep flinkStep(const FlinkJob& job, const AskedPods& asked, WallTime now) {
  OperatorStep out;
  const AskedPods open = openOf(asked, now);
  if (const auto held = heldBack(job.meta)) {
    noteSaved(job, *held, open, now, out);
    goOn(job, *held, out.saved.empty() ? open : AskedPods{}, now, out);
    return out;
  }
  if (open.empty()) return out;
  if (!job.hasJob) {
    out.trouble =
        "a session cluster has no job of its own to suspend: let its jobs save by "
        "themselves, and say mode none on its pods";
    return out;
  }
  if (job.state == kSuspended) return out;  // its owner's will
  const WallTime at = open.front()->said.request->at;
  out.patch = suspension(job, at);
  out.told = fmt::format("is suspended with a savepoint: {} wants {} gone",
                         open.front()->said.request->by, open.front()->name);
  out.again = std::chrono::seconds(2);
  return out;
}

// Workers beyond the smallest index that was asked go; those within the minimum stay.
OperatorStep pyTorchStep(const PyTorchJob& job, const AskedPods& asked, WallTime now) {
  OperatorStep out;
  const AskedPods open = openOf(asked, now);
  const auto held = heldBack(job.meta);
  const auto size = [](int64_t workers, const std::optional<HeldBack>& had) {
    return annotated({{"pytorchReplicaSpecs", {{"Worker", {{"replicas", workers}}}}}}, had);
  };
  if (!open.empty()) {
    if (!job.least) {
      out.trouble = "no elasticPolicy.minReplicas: the job cannot shrink, say mode signal or http";
      return out;
    }
    int64_t target = job.workers;
    for (const auto& pod : open)
      if (pod->role == "worker" && pod->index >= *job.least) target = std::min(target, pod->index);
    if (target >= job.workers) {
      out.trouble = fmt::format("{} is one of the {} workers that the job needs at least",
                                open.front()->name, *job.least);
      return out;
    }
    out.patch = size(target, HeldBack{now, "", held ? held->replicas : job.workers});
    out.told = fmt::format("shrinks from {} to {} workers", job.workers, target);
    return out;
  }
  if (!held) return out;
  if (elapsed(held->at, now) < kGrowAfter) {
    out.again = kGrowAfter - elapsed(held->at, now);
    return out;
  }
  out.patch = size(std::max(held->replicas, job.workers), std::nullopt);
  out.told = fmt::format("may have {} workers again", held->replicas);
  return out;
}

}  // namespace mangrove::manager
