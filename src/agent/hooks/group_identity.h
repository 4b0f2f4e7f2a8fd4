#pragma once
// Group identities (cpu.bvt_warp_ns) by class: services ahead of batch work on one core, where the
// kernel knows it. Pure functions, any thread.
//
//   IdentityRule rule = identityRule(strategy);
//   podIdentity(rule, pod)                       // -1 … 2

#include <cstdint>
#include <optional>

#include "api/koordinator/resource_qos.h"
#include "api/pod/classes.h"
#include "base/number/units.h"
#include "base/result.h"

namespace mangrove::agent {

struct IdentityRule {
  bool enabled = false;  // the policy is group identity and some class has it
  int64_t lsr = 0, ls = 0, be = 0;
  bool lsrEnabled = false;
};
IdentityRule identityRule(const api::ResourceQosStrategy& strategy);

int64_t identityOf(const IdentityRule& rule, api::Qos raw, api::KubeQos kube);
// Of the QoS directory; all pods' parent is always 0.
int64_t tierIdentity(const IdentityRule& rule, api::KubeQos tier);
// With the pod's own annotation, which counts for LS only. An error: leave the pod alone.
Result<int64_t> podIdentity(const IdentityRule& rule, const api::Pod& pod);

// What stands in on kernels without identities, beside the idle class for those below 0: a pod
// whose identity is above 0 weighs twice, or four times, what it asked for. cpu.shares of the pod.
int64_t boostedShares(MilliCpu request, int64_t identity);

}  // namespace mangrove::agent
