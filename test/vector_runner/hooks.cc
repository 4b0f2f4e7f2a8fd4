#include "agent/hooks/batch_resource.h"
#include "agent/hooks/cpuset.h"
#include "agent/hooks/group_identity.h"
#include "api/wire/names.h"
#include "vector_runner/enforce_support.h"

namespace mangrove::vectors {
namespace {

constexpr api::KubeQos kTiers[] = {api::KubeQos::kGuaranteed, api::KubeQos::kBurstable,
                                   api::KubeQos::kBestEffort};

json::Object valuesOf(const agent::BatchValue& value) {
  const auto limit = [](int64_t v) { return v == agent::kUnlimited ? int64_t{-1} : v; };
  return {{"cpu_shares", value.shares},
          {"cfs_quota_us", value.quota.signedUs()},
          {"memory_limit_bytes", limit(value.memory)}};
}

}  // namespace

void hookCpuset(const json::Object& c, Report& r) {
  api::Annotations topology, pod;
  if (const json::Object* said = member(c, "topology_annotations").if_object())
    for (const auto& [key, value] : *said) topology.set(key, std::string_view(value.get_string()));
  if (member(c, "resource_status").is_string())
    pod.set(api::annotation::kResourceStatus, text(c, "resource_status"));
  const json::Object& want = c.at("expect").get_object();
  auto rule = agent::cpusetRule(topology, member(c, "be_cpu_manager") == json::Value(true));
  if (!rule) return r.mismatch("topology_annotations", "a rule", rule.error().text());
  auto got = agent::containerCpuset(
      *rule,
      {api::parseQos(text(c, "pod_qos")), agent::kubeQosOfParent(text(c, "cgroup_parent")), &pod});
  r.expect("error", member(want, "error"), !got);
  const bool has = got && *got;
  r.expect("cpuset", member(want, "cpuset"), has ? json::Value(**got) : json::Value());
}

void hookBatchResource(const json::Object& c, Report& r) {
  auto spec = decoded<api::ExtendedResourceSpec>(member(c, "extended_resource_spec"), r, "spec");
  if (!spec) return;
  agent::BatchRule rule;
  rule.quotaOn = member(c, "cfs_quota_enabled") == json::Value(true);
  if (member(c, "cpu_normalization_ratio").is_number())
    rule.ratio = number(c, "cpu_normalization_ratio");
  const json::Object& want = c.at("expect").get_object();
  json::Object containers, pod;
  const bool applies = text(c, "pod_qos") == "BE" && !spec->containers.empty();
  const agent::BatchValues got = agent::batchValues(*spec, rule);
  if (applies) pod = valuesOf(got.pod);
  for (const auto& [name, value] : got.containers)
    containers[name] = applies ? json::Value(valuesOf(value)) : json::Value(json::Object());
  r.expect("pod", member(want, "pod"), pod);
  r.expect("containers", member(want, "containers"), containers);
}

void hookGroupIdentity(const json::Object& c, Report& r) {
  auto strategy =
      decoded<api::ResourceQosStrategy>(member(c, "resourceQOSStrategy"), r, "strategy");
  if (!strategy) return;
  const agent::IdentityRule rule = agent::identityRule(*strategy);
  json::Object pods, tiers;
  for (const char* label : {"", "LSE", "LSR", "LS", "BE", "SYSTEM"})
    for (api::KubeQos kube : kTiers)
      pods[std::string(label) + "/" + std::string(api::kubeQosName(kube))] =
          agent::identityOf(rule, api::parseQos(label), kube);
  for (api::KubeQos kube : kTiers) tiers[api::kubeQosName(kube)] = agent::tierIdentity(rule, kube);
  const json::Object& want = c.at("expect").get_object();
  r.expect("enabled", member(want, "enabled"), rule.enabled);
  r.expect("pod_bvt", member(want, "pod_bvt_by_koord_qos_and_kube_qos"), pods);
  r.expect("qos_dir_bvt", member(want, "qos_dir_bvt"), tiers);
}

}  // namespace mangrove::vectors
