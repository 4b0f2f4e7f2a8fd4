#include "manager/webhook/pod/mutate.h"

#include <array>
#include <string>
#include <utility>

#include "api/pod/classes.h"
#include "api/wire/names.h"
#include "json/json_patch.h"
#include "json/merge_schema.h"
#include "manager/webhook/draft.h"
#include "manager/webhook/pod/apply_profile.h"
#include "manager/webhook/pod/colocate.h"
#include "manager/webhook/pod/device.h"
#include "manager/webhook/pod/dialect.h"
#include "manager/webhook/pod/extended_spec.h"
#include "manager/webhook/pod/profiles.h"
#include "manager/webhook/pod/quota_nodes.h"
#include "manager/webhook/pod/translate.h"

namespace mangrove::manager {
namespace {

namespace resource = api::resource;

// A pod on its way: the JSON that becomes the patch, and what is known of it as a struct.
struct Draft {
  json::Value pod;
  std::string ns;
  const AdmissionRequest& request;
  const Surroundings& around;
  Review& review;

  json::Object& object() { return pod.get_object(); }
  Result<api::Pod> decoded() const { return api::decodeText<api::Pod>(json::write(pod)); }
};

// `labels` are the pod's, and get what the pod gets.
void speakOneDialect(Draft& draft, const api::Annotations& annotations, api::Labels& labels) {
  if (labels.has(api::label::kQosClass)) return;
  const DialectVerdict verdict = resolveDialects(labels, annotations);
  if (verdict.qos == api::Qos::kNone) return;
  labels.set(api::label::kQosClass, api::qosName(verdict.qos));
  setText(objectIn(metadataOf(draft.object()), "labels"), api::label::kQosClass,
          api::qosName(verdict.qos));
  if (!verdict.conflict.empty()) {
    draft.review.warnings.push_back("QoS dialects disagree: " + verdict.conflict);
    draft.review.notices.push_back({"QoSDialectConflict", verdict.conflict});
  }
}

Result<> applyProfiles(Draft& draft, const api::Labels& labels) {
  const auto matched = draft.around.profiles->matching(draft.around.labelsOf(draft.ns), labels);
  auto chosen = chooseProfiles(matched, draft.around, draft.request.uid);
  if (!chosen) return pass(chosen.error());
  const json::MergeSchema& schema = *json::mergeSchemaOf("", "Pod");
  metadataOf(draft.object());  // made first: a new member moves its neighbours
  for (const Profile* profile : chosen->applied) {
    json::Object& podSpec = objectIn(draft.object(), "spec");
    auto done =
        applyProfile(*profile, {draft.pod, &podSpec, schema}, *draft.around.priorityClasses);
    if (!done) return done;
  }
  if (!chosen->translates) return {};
  auto changed = draft.decoded();
  if (!changed) return changed.error().in("the pod as its profiles leave it");
  translateResources(objectIn(draft.object(), "spec"), api::bandWithDefault(*changed));
  return {};
}

Result<> colocate(Draft& draft) {
  const auto band = askedBand(draft.object());
  return band ? colocateByLabel(draft.object(), *band, draft.around) : Result<>();
}

Result<> runSteps(Draft& draft, const api::Pod& pod) {
  const WebhookGates& gates = draft.around.gates;
  api::Labels labels = pod.meta.labels;
  speakOneDialect(draft, pod.meta.annotations, labels);
  if (auto done = applyProfiles(draft, labels); !done) return done;
  if (auto done = colocate(draft); !done) return done;
  if (!gates.disableExtendedResourceSpec)
    if (auto done = writeExtendedSpec(draft.object()); !done) return done;
  if (gates.multiQuotaTree && draft.around.quotas)
    addQuotaTreeNodes(draft.object(), draft.ns, *draft.around.quotas);
  if (!gates.disableDeviceResourceSpec) expandGpuRequests(objectIn(draft.object(), "spec"));
  return {};
}

constexpr std::array kTelltales = {
    resource::kBatchCpu,  resource::kBatchMemory,    resource::kGpu,       resource::kGpuCore,
    resource::kGpuMemory, resource::kGpuMemoryRatio, resource::kGpuShared,
};

bool mentions(const std::vector<api::Container>& containers) {
  for (const api::Container& container : containers)
    for (std::string_view name : kTelltales)
      if (container.requests.has(name) || container.limits.has(name)) return true;
  return false;
}

}  // namespace

bool podNeedsWork(const api::Pod& pod, std::string_view ns, const Surroundings& around) {
  const api::ObjectMeta& meta = pod.meta;
  if (meta.annotations.has(api::annotation::kExtendedResourceSpec) || askedBand(meta.labels))
    return true;
  if (mentions(pod.spec->containers) || mentions(pod.spec->initContainers)) return true;
  if (around.gates.multiQuotaTree) return true;
  if (!meta.labels.has(api::label::kQosClass) &&
      resolveDialects(meta.labels, meta.annotations).qos != api::Qos::kNone)
    return true;
  return !around.profiles->matching(around.labelsOf(ns), meta.labels).empty();
}

Review mutatePod(const AdmissionRequest& request, const Surroundings& around) {
  if (request.operation != Operation::kCreate || !request.subresource.empty()) return {};
  auto pod = api::decode<api::Pod>(request.object);
  if (!pod) return Review::refuse(kBadRequest, "unreadable", "pod: " + pod.error().text());
  const std::string ns = pod->meta.ns.empty() ? request.ns : pod->meta.ns.str();
  if (!podNeedsWork(*pod, ns, around)) return {};

  Review review;
  const json::Value before = json::toValue(request.object);
  Draft draft{before, ns, request, around, review};
  if (auto done = runSteps(draft, *pod); !done)
    return Review::refuse(kBrokenHandler, "mutation", done.error().text());
  json::Value patch = json::jsonDiff(before, draft.pod);
  if (!patch.get_array().empty()) review.patch = std::move(patch);
  return review;
}

}  // namespace mangrove::manager
