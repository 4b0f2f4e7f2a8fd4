#include "descheduler/evictor/default_evictor.h"

#include <fmt/core.h>

#include "base/number/elapsed.h"
#include "base/os/log.h"

namespace mangrove::descheduler {
namespace {
const Logger log("descheduler");
}

Result<DefaultEvictorArgs> readDefaultEvictorArgs(const json::Value& value) {
  Args args(value, "DefaultEvictorArgs");
  args.only({"nodeSelector", "evictLocalStoragePods", "evictDaemonSetPods",
             "evictSystemCriticalPods", "ignorePvcPods", "evictFailedBarePods", "labelSelector",
             "priorityThreshold", "nodeFit", "minReplicas", "minPodAge", "ignorePodsWithoutPDB"});
  DefaultEvictorArgs out;
  readWhom(args, out.whom);
  out.whom.evictDaemonSetPods = args.boolean("evictDaemonSetPods", false);
  out.minReplicas = args.integer("minReplicas", 0);
  if (out.minReplicas < 0) args.complain("minReplicas is negative, want 0 or more");
  out.minPodAge = args.duration("minPodAge").value_or(Duration::zero());
  if (args.boolean("ignorePodsWithoutPDB", false)) {
    args.complain(
        "ignorePodsWithoutPDB is not supported, want it left out: budgets are asked by the server");
  }
  if (auto ok = args.done(); !ok) return pass(ok.error());
  return out;
}

std::optional<std::string> sparedByDefault(const api::Pod& pod, const DefaultEvictorArgs& args,
                                           const WorkloadOf& workloadOf, WallTime now) {
  const WallTime born = pod.meta.creationTimestamp;
  if (args.minPodAge > Duration::zero() && elapsed(born, now) < args.minPodAge) {
    return fmt::format("it is {} s old, and minPodAge is {} s",
                       std::chrono::floor<std::chrono::seconds>(now - born).count(),
                       std::chrono::floor<std::chrono::seconds>(args.minPodAge).count());
  }
  if (args.minReplicas < 2) return std::nullopt;
  const auto workload = workloadOf(pod);
  if (!workload || workload->replicas >= args.minReplicas) return std::nullopt;
  return fmt::format("its workload has {} replicas, and minReplicas is {}", workload->replicas,
                     args.minReplicas);
}

std::optional<std::string> DefaultEvictor::refusal(const api::Pod& pod) {
  static const LiveJobs kNoJobs;
  const WorkloadOf workloadOf = [this](const api::Pod& one) {
    return desk_.caches.workloadOf(one);
  };
  if (isForced(pod)) return std::nullopt;
  if (auto why = isSpared(pod, {args_.whom, kNoJobs, workloadOf, [this](const api::Pod& one) {
                                  return desk_.caches.hasLocalStorage(one);
                                }})) {
    return why;
  }
  return sparedByDefault(pod, args_, workloadOf, desk_.clock.wall());
}

std::optional<std::string> DefaultEvictor::refusalNow(const api::Pod& pod) {
  if (!args_.whom.nodeFit || isForced(pod)) return std::nullopt;
  return elsewhere_.refusal(pod, args_.whom.nodeSelector);
}

// The answer comes later; a refusal (a disruption budget) is an Event on the pod, and the next cycle
// asks again.
bool DefaultEvictor::evict(const Eviction& eviction) {
  const api::Pod& pod = eviction.pod;
  client::Request request = client::evictRequest(pod.meta);
  request.maxTries = 1;
  desk_.send(std::move(request), [this, who = api::refTo(client::kind::kPod, pod.meta),
                                  plugin = std::string(eviction.plugin),
                                  key = api::keyOf(pod.meta).text()](Result<client::Reply> done) {
    if (done) return;
    log.warn("{} could not evict {}: {}", plugin, key, done.error().text());
    if (desk_.events != nullptr) desk_.events->warning(who, "FailedEvict", done.error().text());
  });
  return true;
}

void DefaultEvictor::beginCycle(const Look& look) {
  elsewhere_.begin(look);
  desk_.caches.resolvePriority(args_.whom.priorityThresholdName, args_.whom.priorityThreshold);
}

}  // namespace mangrove::descheduler
