// How a pod is made to leave: asked to save first where it can, and by which request it goes.
#include "api/annotations/checkpoint.h"
#include "descheduler/migration/controller.h"
#include "descheduler/names.h"

namespace mangrove::descheduler {
namespace {

constexpr Duration kSeenSoon = std::chrono::milliseconds(100);  // our own write, in the cache

}  // namespace

client::Request MigrationController::evictionOf(const api::Pod& pod,
                                                const api::PodMigrationJob& job) {
  const std::string options =
      job.spec.deleteOptions ? job.spec.deleteOptions->text : args_.deleteOptions;
  const std::string_view policy = evictionPolicyOf(pod, job, args_.evictionPolicy);
  if (policy == "SoftEviction") {
    const auto why = job.meta.annotations.get(key::kEvictReason).value_or("");
    return softEviction(pod, desk_.clock.wall(), why, options);
  }
  const api::DeleteOptions wanted = deleteOptionsOf(options, pod);
  if (policy == "Eviction") return client::evictRequest(pod.meta, wanted);
  return client::deleteRequest({client::kind::kPod, pod.meta.ns.str(), pod.meta.name.str(), ""},
                               wanted);
}

// Its answer, and whoever carries the request to it, change the pod, which wakes the job.
void MigrationController::askToSave(const JobPtr& job) {
  const std::string name = job->meta.name.str();
  const auto pod =
      desk_.caches.pods.find(client::keyOf(job->spec.podRef->ns, job->spec.podRef->name));
  if (pod == nullptr) return queue_.add(name);
  const auto asked = api::requestFor(api::saidCheckpoint(pod->meta.annotations), std::string(kMe),
                                     "Migration", desk_.clock.wall());
  busy_.insert(name);
  desk_.send(client::patchRequest({client::kind::kPod, pod->meta.ns.str(), pod->meta.name.str()},
                                  client::PatchType::kMerge, api::requestPatch(asked)),
             [this, name](const Result<client::Reply>& reply) {
               busy_.erase(name);
               if (!reply) return again(name, reply.error(), "asking its pod to save");
               queue_.addAfter(name, kSeenSoon);
             });
}

}  // namespace mangrove::descheduler
