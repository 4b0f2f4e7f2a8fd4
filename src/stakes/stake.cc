#include "stakes/stake.h"

#include <algorithm>
#include <array>

#include "api/annotations/checkpoint.h"
#include "api/annotations/gang.h"
#include "api/pod/band_rank.h"
#include "api/pod/pod_requests.h"
#include "api/wire/names.h"
#include "base/text/strings.h"

namespace mangrove::stakes {
namespace {

namespace resource = api::resource;

// Labels by which the pods of a framework know what they are, and whose.
struct Framework {
  std::string_view prefix;  // of the kind
  std::string_view role;    // label
  std::string_view job;     // label
};
constexpr Framework kFrameworks[] = {
    {"spark-", "spark-role", "spark-app-selector"},
    {"kubeflow-", "training.kubeflow.org/replica-type", "training.kubeflow.org/job-name"},
    {"ray-", "ray.io/node-type", "ray.io/cluster"},
    {"flink-", "component", "app"},
};

const Framework* frameworkOf(const api::Pod& pod) {
  for (const Framework& one : kFrameworks) {
    if (!pod.meta.labels.has(one.role)) continue;
    // Any program may call its parts components.
    const bool isFlink = pod.meta.labels.get("type").value_or("").starts_with("flink");
    if (one.prefix != "flink-" || isFlink) return &one;
  }
  return nullptr;
}

// With these the whole job is gone.
bool carriesItsJob(const api::Pod& pod) {
  constexpr std::string_view kCarriers[] = {"spark-driver", "flink-jobmanager", "kubeflow-master",
                                            "kubeflow-launcher", "ray-head"};
  return std::find(std::begin(kCarriers), std::end(kCarriers), kindOf(pod)) != std::end(kCarriers);
}

double coresOf(const api::ResourceList& asked) {
  const std::array plain = {asked.amount(resource::kBatchCpu).value(),
                            asked.amount(resource::kMidCpu).value(), asked.cpu().v};
  return static_cast<double>(*std::max_element(plain.begin(), plain.end())) / 1000;
}

double gpusOf(const api::ResourceList& asked) {
  double most = 0;
  for (const std::string_view name : {resource::kNvidiaGpu, resource::kAmdGpu, resource::kHygonDcu})
    most = std::max(most, static_cast<double>(asked.amount(name).value()));
  for (const std::string_view name :
       {resource::kGpu, resource::kGpuCore, resource::kGpuMemoryRatio})  // percents of a card
    most = std::max(most, static_cast<double>(asked.amount(name).value()) / 100);
  return most;
}

Work workOf(const api::ResourceList& asked) {
  return {coresOf(asked), gpusOf(asked)};
}

// Who has not started has nothing to lose.
WallTime startOf(const api::Pod& pod) {
  if (pod.status.startTime != kZeroTime) return pod.status.startTime;
  return pod.meta.creationTimestamp != kZeroTime ? pod.meta.creationTimestamp : WallTime::max();
}

}  // namespace

int rankOf(api::PriorityBand band) {
  return std::min(api::bandRank(band), api::bandRank(api::PriorityBand::kProd));
}

std::string kindOf(const api::Pod& pod) {
  if (const Framework* framework = frameworkOf(pod))
    return std::string(framework->prefix) + lower(*pod.meta.labels.get(framework->role));
  const api::OwnerReference* owner = pod.meta.controller();
  return owner == nullptr ? "Pod" : std::string(owner->kind.view());
}

std::string jobOf(const api::Pod& pod) {
  const std::string ns = pod.meta.ns.str() + "/";
  if (const Framework* framework = frameworkOf(pod))
    if (const auto job = pod.meta.labels.get(framework->job))
      return ns + std::string(framework->prefix) + std::string(*job);
  if (const auto gang = api::gangNameOf(pod.meta.labels, pod.meta.annotations); !gang.empty())
    return ns + "gang/" + std::string(gang);
  if (const api::OwnerReference* owner = pod.meta.controller())
    return ns + std::string(owner->kind.view()) + "/" + owner->name.str();
  return ns + pod.meta.name.str();
}

std::string strictGangOf(const api::Pod& pod) {
  const auto name = api::gangNameOf(pod.meta.labels, pod.meta.annotations);
  if (name.empty() || api::gangModeOf(pod.meta.annotations) != api::GangMode::kStrict) return "";
  return pod.meta.ns.str() + "/" + std::string(name);
}

victims::Progress progressOf(const api::Pod& pod, const Known& known) {
  using Says = victims::Progress::Says;
  const Work work = known.work ? *known.work : workOf(api::podRequests(pod));
  victims::Progress out;
  out.cores = work.cores;
  out.gpus = work.gpus;
  out.started = startOf(pod);
  out.measuredCpuSeconds = known.measuredCpuSeconds;
  const api::SaidCheckpoint said = api::saidCheckpoint(pod.meta.annotations);
  if (!said.contract) return out;
  const bool saves = said.contract->mode != api::Checkpoint::Mode::kNone;
  out.says = saves ? Says::kSaves : Says::kNothing;
  out.saved = said.last;
  out.restart = said.contract->restart;
  return out;
}

victims::Candidate candidateOf(const api::Pod& pod, const Known& known) {
  victims::Candidate out;
  out.name = api::keyOf(pod.meta).text();
  out.kind = kindOf(pod);
  out.rank = rankOf(api::bandWithDefault(pod));
  out.priority = api::priorityWithDefault(pod);
  out.carries = carriesItsJob(pod);
  out.progress = progressOf(pod, known);
  out.evictedToday = known.evictedToday;
  return out;
}

}  // namespace mangrove::stakes
