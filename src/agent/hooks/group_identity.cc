#include "agent/hooks/group_identity.h"

#include <algorithm>

#include "api/annotations/qos.h"
#include "kernel/cpu_units.h"

namespace mangrove::agent {
namespace {

struct Class {
  bool enabled = false;
  int64_t value = 0;
};

Class classOf(const std::optional<api::ResourceQos>& group) {
  if (!group || !group->cpuQos || !group->cpuQos->enable.value_or(false)) return {};
  return {true, group->cpuQos->groupIdentity.value_or(0)};
}

bool isByIdentity(const api::ResourceQosStrategy& strategy) {
  if (!strategy.policies || !strategy.policies->cpuPolicy) return true;
  const std::string& policy = *strategy.policies->cpuPolicy;
  return policy.empty() || policy == "groupIdentity";
}

}  // namespace

IdentityRule identityRule(const api::ResourceQosStrategy& strategy) {
  if (!isByIdentity(strategy)) return {};
  const Class lsr = classOf(strategy.lsrClass);
  const Class ls = classOf(strategy.lsClass);
  const Class be = classOf(strategy.beClass);
  return {lsr.enabled || ls.enabled || be.enabled, lsr.value, ls.value, be.value, lsr.enabled};
}

int64_t identityOf(const IdentityRule& rule, api::Qos raw, api::KubeQos kube) {
  switch (raw) {
    case api::Qos::kLse:
    case api::Qos::kLsr:
      return rule.lsr;
    case api::Qos::kLs:
      return rule.ls;
    case api::Qos::kBe:
      return rule.be;
    default:
      break;
  }
  if (kube == api::KubeQos::kBestEffort) return rule.be;
  if (kube == api::KubeQos::kGuaranteed && rule.lsrEnabled) return rule.lsr;
  return rule.ls;
}

int64_t tierIdentity(const IdentityRule& rule, api::KubeQos tier) {
  if (tier == api::KubeQos::kBurstable) return rule.ls;
  return tier == api::KubeQos::kBestEffort ? rule.be : 0;
}

Result<int64_t> podIdentity(const IdentityRule& rule, const api::Pod& pod) {
  const api::Qos raw = api::rawQos(pod.meta.labels);
  const int64_t byRule = identityOf(rule, raw, api::kubeQos(pod));
  if (raw != api::Qos::kLs) return byRule;
  auto said = api::parseCpuQos(pod.meta.annotations);
  if (!said) return pass(said.error());
  if (!*said) return byRule;
  if (!(*said)->enable.value_or(false)) return 0;
  return (*said)->groupIdentity.value_or(byRule);
}

int64_t boostedShares(MilliCpu request, int64_t identity) {
  const int64_t plain = kernel::sharesOf(request);
  return std::min(plain << std::clamp<int64_t>(identity, 0, 2), kernel::kMaxShares);
}

}  // namespace mangrove::agent
