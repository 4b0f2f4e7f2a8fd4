#include <algorithm>
#include <optional>

#include <fmt/core.h>

#include "api/annotations/cpu.h"
#include "api/annotations/scheduling.h"
#include "base/text/strings.h"
#include "placement/plugins/numa/node_numa_resource.h"

namespace mangrove::placement {

namespace {

constexpr int64_t kMilli = 1000;
constexpr std::string_view kNotInteger = "the requested CPUs must be integer";

BindPolicy ofNode(api::NodeCpuBindPolicy policy) {
  if (policy == api::NodeCpuBindPolicy::kFullPcpusOnly) return BindPolicy::kFullPcpus;
  if (policy == api::NodeCpuBindPolicy::kSpreadByPcpus) return BindPolicy::kSpreadByPcpus;
  return BindPolicy::kNone;
}

bool amplifiedFits(const NumaPlan& pod, const NumaNode& node, const NodeCpu& cpu, bool binds) {
  const double ratio = node.ratio();
  if (ratio <= 1 || pod.cpu == 0) return true;
  const int64_t wanted = binds ? amplified(pod.cpu, ratio) : pod.cpu;
  int64_t used = cpu.requested;
  if (const int64_t bound = node.boundCpu(); bound > 0 && used >= bound)
    used += amplified(bound, ratio) - bound;
  return wanted <= cpu.allocatable - used;
}

NumaRequest requestFor(const NumaPlan& pod, const NumaAnswer& answer) {
  NumaRequest out;
  out.amounts = pod.amounts;
  out.binds = answer.binds;
  out.wish = answer.wish;
  return out;
}

Admission admit(const NumaPlan& pod, const NumaAnswer& answer, const NumaNode& node,
                const NumaArgs& args, const OtherHints& others) {
  const NumaRequest request = requestFor(pod, answer);
  Exclusivity exclusivity;
  exclusivity.required = pod.exclusiveRequired;
  if (exclusivity.required) exclusivity.uses = node.uses();
  NumaScorer scorer = args.numaScorer;
  scorer.enabled = true;
  std::vector<HintMap> providers = {numaHints(node.state(), request, answer.policy, scorer)};
  providers.insert(providers.end(), others.begin(), others.end());
  return mergeHints(answer.policy, node.nodes(), providers, exclusivity);
}

NumaOutcome refusedBy(std::vector<std::string> reasons) {
  NumaOutcome out;
  out.reasons = std::move(reasons);
  return out;
}

bool isFree(const NumaAllocation& wanted, const NumaNode& node) {
  const NumaState& state = node.state();
  if (!wanted.cpus.isSubsetOf(state.books.available(state.reserved))) return false;
  for (const auto& [id, amounts] : wanted.perNode) {
    const NumaAmounts left = availableOn(state, {}, id);
    for (const auto& [name, amount] : amounts) {
      const auto at = left.find(name);
      if (at == left.end() || at->second < amount) return false;
    }
  }
  return true;
}

// As many CPUs of each NUMA node, whole cores where they are wanted and that goes; nullopt: nobody
// asks for it, or it does not go.
std::optional<CpuSet> takeEvenly(const CpuWish& wish, const NumaNode& node) {
  const std::vector<int> nodes = node.nodes();
  if (!node.distributesEvenly() || nodes.size() < 2) return std::nullopt;
  const bool wholeCores =
      wish.policy == BindPolicy::kFullPcpus && wish.need % node.layout().cpusPerCore() == 0;
  NumaRequest request{{{std::string(kNumaCpu), kMilli * wish.need}}, true, wish};
  for (bool whole : {wholeCores, false}) {
    request.wish.required = wish.required || whole;
    const NumaOutcome got = allocate(node.state(), request, maskOf(nodes));
    if (got.ok()) return got.allocation.cpus;
  }
  return std::nullopt;
}

// CPUs alone, anywhere on the node.
NumaOutcome takeAnywhere(const NumaAnswer& answer, const NumaNode& node) {
  NumaOutcome out;
  if (!answer.binds) return out;
  if (auto even = takeEvenly(answer.wish, node)) {
    out.allocation.cpus = std::move(*even);
    return out;
  }
  auto cpus =
      takeCpus(node.state().books, node.state().reserved, answer.wish.preferred, answer.wish);
  if (!cpus) return refusedBy({cpus.error().sentence()});
  out.allocation.cpus = std::move(*cpus);
  return out;
}

// The bind policy that counts on this node; the answer's own refusal when they conflict.
NumaAnswer bindOn(const NumaPlan& pod, const NumaNode& node) {
  NumaAnswer out;
  const BindPolicy forced = ofNode(node.bindPolicy());
  out.binds = pod.binds || (!pod.isCpuset && pod.cpu > 0 && forced != BindPolicy::kNone);
  if (!out.binds) return out;
  if (pod.cpu % kMilli != 0)
    return NumaAnswer::refuse(Code::kUnresolvable, std::string(kNotInteger));
  if (!node.hasCpus())
    return NumaAnswer::refuse(Code::kUnresolvable, "node(s) invalid CPU Topology");
  const BindPolicy required = forced != BindPolicy::kNone ? forced : pod.required;
  if (pod.required != BindPolicy::kNone && pod.required != required)
    return NumaAnswer::refuse(
        Code::kUnresolvable,
        "node(s) cpu bind policy conflicts with pod's required cpu bind policy");
  out.wish.need = static_cast<int>(pod.cpu / kMilli);
  out.wish.required = required != BindPolicy::kNone;
  out.wish.policy = out.wish.required ? required : pod.preferred;
  out.wish.exclusive = pod.exclusive;
  out.wish.mostAllocated = node.mostAllocated();
  if (required == BindPolicy::kFullPcpus && out.wish.need % node.layout().cpusPerCore() != 0)
    return NumaAnswer::refuse(Code::kUnresolvable,
                              "node(s) requested cpus not multiple cpus per core");
  return out;
}

}  // namespace

NumaAnswer judgeNuma(const NumaPlan& pod, const NumaNode& node, const NodeCpu& cpu,
                     const NumaArgs& args, const OtherHints& others) {
  if (pod.policy != NumaPolicy::kNone && node.policy() != NumaPolicy::kNone &&
      pod.policy != node.policy())
    return NumaAnswer::refuse(Code::kUnresolvable, "node(s) NUMA Topology policy not match");
  if (node.hasBadRatio() && pod.cpu > 0)
    return NumaAnswer::refuse(Code::kUnresolvable, "node(s) invalid CPU amplification ratio");
  const BindPolicy forced = ofNode(node.bindPolicy());
  const bool binds = pod.binds || (!pod.isCpuset && pod.cpu > 0 && forced != BindPolicy::kNone);
  if (!amplifiedFits(pod, node, cpu, binds))
    return NumaAnswer::refuse(Code::kUnschedulable, "Insufficient amplified cpu");
  NumaAnswer out = bindOn(pod, node);
  if (out.code != Code::kFits) return out;
  out.wish.preferOrphans = args.preferOrphans;
  out.policy = policyFor(pod, node);
  if (pod.designated && !isFree(*pod.designated, node))
    return NumaAnswer::refuse(Code::kUnschedulable, "not enough cpus available to satisfy request");
  if (pod.designated) return out;
  const bool aligned = out.policy != NumaPolicy::kNone;
  if (aligned && node.nodes().empty())
    return NumaAnswer::refuse(Code::kUnresolvable, "node(s) missing NUMA resources");
  // A trial decides, also for preferences and BestEffort: the reference finds out when it reserves,
  // and then tries the same node again.
  if (aligned || out.binds) {
    const NumaOutcome trial = allocateNuma(pod, out, node, args, others);
    if (!trial.ok()) return NumaAnswer::refuse(Code::kUnschedulable, join(trial.reasons, "\n"));
  }
  return out;
}

NumaOutcome allocateNuma(const NumaPlan& pod, const NumaAnswer& answer, const NumaNode& node,
                         const NumaArgs& args, const OtherHints& others) {
  if (pod.designated) return {*pod.designated, {}};
  if (answer.policy == NumaPolicy::kNone) return takeAnywhere(answer, node);
  if (node.nodes().empty()) return refusedBy({"node(s) missing NUMA resources"});
  const Admission admission = admit(pod, answer, node, args, others);
  if (!admission.admitted) return refusedBy(admission.reasons);
  if (!admission.best.mask) return takeAnywhere(answer, node);
  NumaOutcome out = allocate(node.state(), requestFor(pod, answer), *admission.best.mask);
  out.mask = admission.best.mask;
  return out;
}

NumaPlan compileNuma(const PodClass& cls, const NumaArgs& args, const ResourceIds& ids) {
  NumaPlan out;
  out.cpu = cls.requests.amount(kCpuId);
  for (const Request& request : cls.requests.all)
    out.amounts[ids.name(request.id).str()] = request.amount;
  out.isCpuset = (cls.qos == api::Qos::kLse || cls.qos == api::Qos::kLsr) &&
                 cls.band == api::PriorityBand::kProd;
  auto spec = api::parseResourceSpec(cls.annotations);
  auto topology = api::parseNumaTopologySpec(cls.annotations);
  if (!spec) out.trouble = spec.error().text();
  if (!topology) out.trouble = topology.error().text();
  if (!out.trouble.empty()) return out;
  const api::ResourceSpec wishes = spec->value_or(api::ResourceSpec());
  const auto named = [&](const std::string& word) {
    return word == api::cpu_bind::kDefault ? args.defaultBindPolicy : bindPolicyOf(word);
  };
  out.exclusive = exclusiveOf(wishes.preferredCpuExclusivePolicy);
  if (*topology) {
    out.policy = api::numaTopologyPolicyOf((*topology)->numaTopologyPolicy);
    const std::string& alone = (*topology)->singleNumaNodeExclusive;
    out.exclusiveRequired =
        alone == "Required" || (alone.empty() && out.policy != NumaPolicy::kNone);
  }
  if (const auto hint = api::parseSchedulingHint(cls.annotations);
      hint && *hint && (*hint)->extensions.contains("NodeNUMAResource"))
    if (auto holding = holdingIn(cls.annotations)) out.designated = std::move(holding->allocation);
  if (!out.isCpuset) return out;
  out.required = named(wishes.requiredCpuBindPolicy);
  out.preferred = wishes.preferredCpuBindPolicy.empty() ? args.defaultBindPolicy
                                                        : named(wishes.preferredCpuBindPolicy);
  const BindPolicy policy = out.required != BindPolicy::kNone ? out.required : out.preferred;
  out.binds =
      out.cpu > 0 && (policy == BindPolicy::kFullPcpus || policy == BindPolicy::kSpreadByPcpus);
  return out;
}

}  // namespace mangrove::placement
