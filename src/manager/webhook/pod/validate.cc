#include "manager/webhook/pod/validate.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "api/annotations/quota.h"
#include "api/wire/names.h"
#include "base/text/strings.h"
#include "manager/webhook/pod/profile_writes.h"
#include "manager/webhook/quota/tree.h"

namespace mangrove::manager {
namespace {

Review refusalOf(const Faults& faults) {
  std::vector<std::string> reasons, messages;
  for (const Fault& fault : faults) {
    const std::string reason(fault.reason);
    if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end())
      reasons.push_back(reason);
    messages.push_back(fault.message);
  }
  return Review::refuse(kBadRequest, join(reasons, ","), join(messages, "; "));
}

}  // namespace

Faults annotationFaults(const api::Pod& pod) {
  if (!pod.meta.annotations.has(api::annotation::kReservePod)) return {};
  return {{"reserve-pod-annotation",
           fmt::format("metadata.annotations[{}]: belongs to the scheduler's own pods and must not "
                       "be set",
                       api::annotation::kReservePod)}};
}

Faults quotaFaults(const api::Pod& pod, const api::Pod* old, std::string_view ns,
                   const Surroundings& around) {
  Faults out;
  const auto preemptible = pod.meta.labels.get(api::label::kQuotaPreemptible);
  if (old != nullptr && old->meta.labels.get(api::label::kQuotaPreemptible) != preemptible)
    out.push_back({"immutable-preemptible", fmt::format("metadata.labels[{}]: may not be changed",
                                                        api::label::kQuotaPreemptible)});
  if (!around.quotas || around.gates.supportParentQuotaSubmitPod) return out;
  const std::string name = around.quotas->nameFor(api::quotaNameOf(pod.meta.labels), ns,
                                                  around.gates.disableDefaultQuota);
  const Quota* quota = around.quotas->find(name);
  if (quota != nullptr && quota->isParent)
    out.push_back({"parent-quota", fmt::format("quota {} is a parent of other quotas; pods belong "
                                               "into its children",
                                               name)});
  return out;
}

Faults requiredLabelFaults(const api::Pod& pod, std::string_view ns, const Surroundings& around) {
  Faults out;
  if (pod.meta.labels.get(api::label::kSkipEnhancedValidation) == "true") return out;
  for (const EnhancedRule& rule : *around.enhancedRules) {
    const auto& free = rule.namespaceWhitelist;
    if (std::find(free.begin(), free.end(), ns) != free.end()) continue;
    for (const std::string& key : rule.requiredLabels)
      if (!pod.meta.labels.has(key))
        out.push_back({"required-label",
                       fmt::format("metadata.labels[{}]: rule {} requires it", key, rule.name)});
  }
  return out;
}

Review validatePod(const AdmissionRequest& request, const Surroundings& around) {
  const bool update = request.operation == Operation::kUpdate;
  if ((!update && request.operation != Operation::kCreate) || !request.subresource.empty())
    return {};
  auto pod = api::decode<api::Pod>(request.object);
  if (!pod) return Review::refuse(kBadRequest, "unreadable", "pod: " + pod.error().text());
  auto before = update ? api::decode<api::Pod>(request.oldObject) : api::Pod();
  if (!before)
    return Review::refuse(kBadRequest, "unreadable", "old pod: " + before.error().text());
  const api::Pod* old = update ? &*before : nullptr;
  const std::string ns = pod->meta.ns.empty() ? request.ns : pod->meta.ns.str();

  // What the profile controller changes is judged like a new pod.
  const bool byProfiles = update && isByProfiles(request, *pod, *old, around);
  const std::function<Faults()> stages[] = {
      [&] { return annotationFaults(*pod); },
      [&] { return colocationFaults(*pod, byProfiles ? nullptr : old, around.gates); },
      [&] { return update ? Faults() : katalystFaults(*pod); },
      [&] { return quotaFaults(*pod, old, ns, around); },
      [&] { return around.gates.validateDeviceResource ? deviceFaults(*pod) : Faults(); },
      [&] {
        return around.gates.enhancedValidator ? requiredLabelFaults(*pod, ns, around) : Faults();
      },
  };
  for (const auto& stage : stages)
    if (Faults faults = stage(); !faults.empty()) return refusalOf(faults);
  return {};
}

}  // namespace mangrove::manager
