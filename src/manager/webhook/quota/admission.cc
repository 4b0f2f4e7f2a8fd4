#include "manager/webhook/quota/admission.h"

#include <algorithm>
#include <bit>

#include "api/annotations/quota.h"
#include "api/pod/pod_requests.h"
#include "api/wire/names.h"
#include "placement/intake/transform.h"

namespace mangrove::manager {
namespace {

constexpr int kLeastTries = 3;

bool isOver(const api::Pod& pod, WallTime now) {
  if (api::isTerminated(pod)) return true;
  const auto grace = std::chrono::seconds(pod.meta.deletionGracePeriodSeconds);
  return pod.meta.isDeleting() && now > pod.meta.deletionTimestamp + grace;
}

std::string listed(const api::ResourceList& amounts, const api::ResourceList& keys) {
  std::string out;
  for (const auto& [name, unused] : keys) {
    if (!out.empty()) out += ',';
    out += fmt::format("{}={}", name.view(), amounts.amount(name.view()).text());
  }
  return out;
}

}  // namespace

api::ResourceList chargeOf(const api::Pod& pod, const WebhookGates& gates, WallTime now) {
  if (isOver(pod, now)) return {};
  api::RequestOptions options;
  options.withOverhead = !gates.quotaIgnorePodOverhead;
  if (!gates.quotaEvaluationTransformPod) return api::podRequests(*pod.spec, options);
  // What the scheduler will see: its own transformation, container by container.
  api::Pod seen = pod;
  placement::PodTransforms transforms;
  transforms.replaceResources = gates.replaceResources;
  placement::applyTransforms(seen, transforms);
  return api::podRequests(*seen.spec, options);
}

std::string quotaToCharge(const api::Pod& pod, const api::Pod* old, std::string_view ns,
                          const Surroundings& around) {
  if (!around.gates.quotaAdmission || !around.quotas) return "";
  const auto nameOf = [&](const api::Pod& one) {
    return around.quotas->nameFor(api::quotaNameOf(one.meta.labels), ns,
                                  around.gates.disableDefaultQuota);
  };
  const std::string name = nameOf(pod);
  if (old != nullptr && (!around.gates.quotaAdmissionOnUpdate || nameOf(*old) == name)) return "";
  if (name == api::object::kDefaultQuota || api::isReservedQuota(name)) return "";
  return name;
}

Result<api::ResourceList> bookOn(const Quota& quota, const api::ResourceList& request) {
  const api::ResourceList& limit = quota.admission.empty() ? quota.max : quota.admission;
  api::ResourceList counted, exceeded;
  for (const auto& [name, amount] : request) {
    if (amount.isZero() || quota.max.find(name) == nullptr) continue;
    counted.set(name, amount);
    const Quantity* most = limit.find(name);
    if (most != nullptr && quota.childRequest.amount(name.view()) + amount > *most)
      exceeded.set(name, amount);
  }
  if (!exceeded.empty())
    return fail(Code::kDenied, "exceeded quota: {}/{}, requested: {}, used: {}, limited: {}",
                quota.ns, quota.name, listed(request, exceeded),
                listed(quota.childRequest, exceeded), listed(limit, exceeded));
  api::ResourceList out = quota.childRequest;
  out.add(counted);
  return out;
}

int retryBudget(size_t pods, int most) {
  const int doublings = pods == 0 ? 0 : static_cast<int>(std::bit_width(pods)) - 1;
  return std::min(std::max(most, kLeastTries), kLeastTries + doublings);
}

}  // namespace mangrove::manager
