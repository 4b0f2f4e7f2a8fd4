#pragma once
// The switches of the admission handlers, named and defaulted as in the reference, and our own.
//
//   FeatureGates gates(allManagerGates);                 // contains kWebhookGates
//   Surroundings now{.gates = webhookGatesOf(gates)};
//
// Plain values; any thread.

#include <array>

#include "base/feature_gates.h"

namespace mangrove::manager {

struct WebhookGates {
  bool podMutating = true;
  bool podValidating = true;
  bool quotaMutating = true;
  bool quotaValidating = true;
  bool nodeMutating = false;
  bool nodeValidating = false;
  bool configMapValidating = false;
  bool reservationMutating = false;
  bool workloadMutating = true;   // ours; acts only on what asks for it by label
  bool sparkReservations = true;  // ours
  bool bindingAdmission = false;

  bool skipMutatingResources = false;
  bool skipValidatingPriority = false;
  bool disableExtendedResourceSpec = false;
  bool disableDeviceResourceSpec = false;
  bool validateDeviceResource = false;
  bool multiQuotaTree = false;
  bool disableDefaultQuota = false;
  bool supportParentQuotaSubmitPod = false;
  bool quotaAdmission = false;
  bool quotaAdmissionOnUpdate = false;
  bool quotaIgnorePodOverhead = false;
  bool quotaGuaranteeUsage = false;
  bool quotaEnableUpdateResourceKey = false;
  bool quotaEvaluationTransformPod = false;
  bool replaceResources = false;
  bool enhancedValidator = false;
  bool strictQosMatrix = false;  // ours: LSE and SYSTEM only with prod
};

// One row per gate: the name users write, its default, and the member it sets.
struct WebhookGate {
  GateInfo info;
  bool WebhookGates::*member;
};
inline constexpr std::array kWebhookGates = {
    WebhookGate{{"PodMutatingWebhook", true, Maturity::kBeta, "change pods on admission"},
                &WebhookGates::podMutating},
    WebhookGate{{"PodValidatingWebhook", true, Maturity::kBeta, "refuse malformed pods"},
                &WebhookGates::podValidating},
    WebhookGate{{"ElasticMutatingWebhook", true, Maturity::kBeta, "complete ElasticQuotas"},
                &WebhookGates::quotaMutating},
    WebhookGate{{"ElasticValidatingWebhook", true, Maturity::kBeta, "check the quota tree"},
                &WebhookGates::quotaValidating},
    WebhookGate{{"NodeMutatingWebhook", false, Maturity::kAlpha, "amplify node allocatable"},
                &WebhookGates::nodeMutating},
    WebhookGate{{"NodeValidatingWebhook", false, Maturity::kAlpha, "refuse ambiguous node labels"},
                &WebhookGates::nodeValidating},
    WebhookGate{{"ConfigMapValidatingWebhook", false, Maturity::kAlpha, "check the SLO ConfigMap"},
                &WebhookGates::configMapValidating},
    WebhookGate{{"ReservationMutatingWebhook", false, Maturity::kAlpha, "profiles on Reservations"},
                &WebhookGates::reservationMutating},
    WebhookGate{{"WorkloadMutatingWebhook", true, Maturity::kBeta,
                 "rewrite Spark, Flink and PyTorch jobs labelled for colocation"},
                &WebhookGates::workloadMutating},
    WebhookGate{{"SparkReservations", true, Maturity::kBeta,
                 "drivers of such Spark jobs wait until room for them and their executors is "
                 "reserved"},
                &WebhookGates::sparkReservations},
    WebhookGate{{"BindingAdmissionWebhook", false, Maturity::kAlpha, "who may bind pods"},
                &WebhookGates::bindingAdmission},
    WebhookGate{{"ColocationProfileSkipMutatingResources", false, Maturity::kAlpha,
                 "profiles leave resources alone"},
                &WebhookGates::skipMutatingResources},
    WebhookGate{{"ColocationProfileSkipValidatingPriority", false, Maturity::kAlpha,
                 "the sub-priority of a pod may change"},
                &WebhookGates::skipValidatingPriority},
    WebhookGate{{"DisableExtendedResourceSpec", false, Maturity::kAlpha,
                 "do not write extended-resource-spec"},
                &WebhookGates::disableExtendedResourceSpec},
    WebhookGate{
        {"DisableDeviceResourceSpec", false, Maturity::kAlpha, "do not expand GPU requests"},
        &WebhookGates::disableDeviceResourceSpec},
    WebhookGate{{"ValidatePodDeviceResource", false, Maturity::kAlpha, "check GPU requests"},
                &WebhookGates::validateDeviceResource},
    WebhookGate{{"MultiQuotaTree", false, Maturity::kAlpha, "pods follow their quota tree's nodes"},
                &WebhookGates::multiQuotaTree},
    WebhookGate{{"DisableDefaultQuota", false, Maturity::kAlpha, "namespaces imply no quota"},
                &WebhookGates::disableDefaultQuota},
    WebhookGate{{"SupportParentQuotaSubmitPod", false, Maturity::kAlpha, "pods in parent quotas"},
                &WebhookGates::supportParentQuotaSubmitPod},
    WebhookGate{{"EnableQuotaAdmission", false, Maturity::kAlpha, "refuse pods beyond their quota"},
                &WebhookGates::quotaAdmission},
    WebhookGate{{"EnableQuotaAdmissionOnUpdate", false, Maturity::kAlpha,
                 "the same when a pod moves to another quota"},
                &WebhookGates::quotaAdmissionOnUpdate},
    WebhookGate{
        {"ElasticQuotaIgnorePodOverhead", false, Maturity::kAlpha, "quotas do not count overhead"},
        &WebhookGates::quotaIgnorePodOverhead},
    WebhookGate{{"ElasticQuotaGuaranteeUsage", false, Maturity::kAlpha,
                 "guaranteed amounts count in quota checks"},
                &WebhookGates::quotaGuaranteeUsage},
    WebhookGate{{"ElasticQuotaEnableUpdateResourceKey", false, Maturity::kAlpha,
                 "child quotas may name fewer resources"},
                &WebhookGates::quotaEnableUpdateResourceKey},
    WebhookGate{{"ElasticQuotaEvaluationTransformPod", false, Maturity::kAlpha,
                 "quota admission counts what the scheduler's transformers make of a pod"},
                &WebhookGates::quotaEvaluationTransformPod},
    WebhookGate{{"ReplaceResourcesTransformer", false, Maturity::kAlpha,
                 "the annotation replace-resources counts, as in the scheduler"},
                &WebhookGates::replaceResources},
    WebhookGate{{"EnablePodEnhancedValidator", false, Maturity::kAlpha, "required pod labels"},
                &WebhookGates::enhancedValidator},
    WebhookGate{
        {"StrictQoSPriorityMatrix", false, Maturity::kAlpha, "LSE and SYSTEM only with koord-prod"},
        &WebhookGates::strictQosMatrix},
};

// `gates` must know all of kWebhookGates.
inline WebhookGates webhookGatesOf(const FeatureGates& gates) {
  WebhookGates out;
  for (const WebhookGate& gate : kWebhookGates) out.*gate.member = gates.on(gate.info.name);
  return out;
}

}  // namespace mangrove::manager
