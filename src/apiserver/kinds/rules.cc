#include "apiserver/kinds/rules.h"

#include "apiserver/kinds/defaults.h"
#include "apiserver/kinds/validators.h"
#include "apiserver/schema/crd_validation.h"

namespace mangrove::apiserver {
namespace {

struct Row {
  std::string_view group, version, kind;
  KindRules rules;
};

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";
constexpr std::string_view kStorage = "storage.k8s.io";
constexpr std::string_view kAdmission = "admissionregistration.k8s.io";
constexpr std::string_view kAuthorization = "authorization.k8s.io";
constexpr std::string_view kNetworking = "networking.k8s.io";

// Columns: defaults, onCreate, validate, validateUpdate.
constexpr Row kCoreRows[] = {
    {"", "v1", "Pod", {defaultPod, startPod, validatePod, validatePodUpdate}},
    {"", "v1", "PodTemplate", {defaultPodTemplate, nullptr, validatePodTemplate}},
    {"",
     "v1",
     "ReplicationController",
     {defaultReplicationController, nullptr, validateReplicationController}},
    {"",
     "v1",
     "Namespace",
     {defaultNamespace, startNamespace, validateNamespace, nullptr, nullptr, false,
      keepNamespaceFinalizers}},
    {"", "v1", "Node", {defaultNode, nullptr, validateNode, validateNodeUpdate, nullptr, true}},
    {"", "v1", "ConfigMap", {nullptr, nullptr, validateConfigMap, validateConfigMapUpdate}},
    {"", "v1", "Secret", {defaultSecret, nullptr, validateSecret, validateSecretUpdate}},
    {"",
     "v1",
     "Service",
     {defaultService, startService, validateService, validateServiceUpdate, nullptr, false,
      keepServiceAddresses}},
    {"", "v1", "Endpoints", {nullptr, nullptr, validateEndpoints}},
    {"", "v1", "Event", {nullptr, nullptr, validateEvent}},
    {"", "v1", "PersistentVolume", {nullptr, startPending, validateVolume, validateVolumeUpdate}},
    {"",
     "v1",
     "PersistentVolumeClaim",
     {nullptr, startPending, validateClaim, validateClaimUpdate}},
    {"", "v1", "ResourceQuota", {nullptr, nullptr, validateResourceQuota}},
    {"", "v1", "LimitRange", {defaultLimitRange, nullptr, validateLimitRange}},
    {"", "v1", "Binding", {nullptr, nullptr, validateBinding}},
};

constexpr Row kWorkloadRows[] = {
    {"apps",
     "v1",
     "Deployment",
     {defaultDeployment, nullptr, validateDeployment, validateDeploymentUpdate}},
    {"apps",
     "v1",
     "ReplicaSet",
     {defaultReplicaSet, nullptr, validateReplicaSet, validateReplicaSetUpdate}},
    {"apps",
     "v1",
     "StatefulSet",
     {defaultStatefulSet, nullptr, validateStatefulSet, validateStatefulSetUpdate}},
    {"apps",
     "v1",
     "DaemonSet",
     {defaultDaemonSet, nullptr, validateDaemonSet, validateDaemonSetUpdate}},
    {"apps",
     "v1",
     "ControllerRevision",
     {nullptr, nullptr, validateControllerRevision, validateControllerRevisionUpdate}},
    {"batch", "v1", "Job", {defaultJob, startJob, validateJob, validateJobUpdate}},
    {"batch", "v1", "CronJob", {defaultCronJob, nullptr, validateCronJob}},
    {"autoscaling", "v1", "HorizontalPodAutoscaler", {nullptr, nullptr, validateAutoscaler}},
    {"autoscaling",
     "v2",
     "HorizontalPodAutoscaler",
     {defaultAutoscaler, nullptr, validateAutoscaler}},
    {"policy", "v1", "PodDisruptionBudget", {nullptr, nullptr, validateDisruptionBudget}},
    {"scheduling.k8s.io",
     "v1",
     "PriorityClass",
     {nullptr, nullptr, validatePriorityClass, validatePriorityClassUpdate}},
};

constexpr Row kClusterRows[] = {
    {kStorage,
     "v1",
     "StorageClass",
     {nullptr, nullptr, validateStorageClass, validateStorageClassUpdate}},
    {kStorage, "v1", "CSINode", {nullptr, nullptr, validateCsiNode, validateCsiNodeUpdate}},
    {kStorage, "v1", "CSIDriver", {nullptr, nullptr, validateCsiDriver, validateCsiDriverUpdate}},
    {kStorage,
     "v1",
     "VolumeAttachment",
     {nullptr, nullptr, validateVolumeAttachment, validateVolumeAttachmentUpdate}},
    {kStorage,
     "v1",
     "CSIStorageCapacity",
     {nullptr, nullptr, validateCsiStorageCapacity, validateCsiStorageCapacityUpdate}},
    {"coordination.k8s.io", "v1", "Lease", {nullptr, nullptr, validateLease}},
    {"events.k8s.io", "v1", "Event", {nullptr, nullptr, validateEventV1}},
    {"discovery.k8s.io",
     "v1",
     "EndpointSlice",
     {nullptr, nullptr, validateEndpointSlice, validateEndpointSliceUpdate}},
    {"node.k8s.io",
     "v1",
     "RuntimeClass",
     {nullptr, nullptr, validateRuntimeClass, validateRuntimeClassUpdate}},
    {kNetworking,
     "v1",
     "IngressClass",
     {nullptr, nullptr, validateIngressClass, validateIngressClassUpdate}},
    {kNetworking, "v1", "Ingress", {nullptr, nullptr, validateIngress}},
    {kNetworking,
     "v1",
     "IPAddress",
     {nullptr, nullptr, validateIpAddress, validateIpAddressUpdate}},
    {kNetworking,
     "v1",
     "ServiceCIDR",
     {nullptr, nullptr, validateServiceCidr, validateServiceCidrUpdate}},
    {kNetworking, "v1", "NetworkPolicy", {defaultNetworkPolicy, nullptr, validateNetworkPolicy}},
    {kRbac, "v1", "Role", {nullptr, nullptr, validateRole}},
    {kRbac, "v1", "ClusterRole", {nullptr, nullptr, validateClusterRole}},
    {kRbac,
     "v1",
     "RoleBinding",
     {defaultRoleBinding, nullptr, validateRoleBinding, validateRoleBindingUpdate}},
    {kRbac,
     "v1",
     "ClusterRoleBinding",
     {defaultRoleBinding, nullptr, validateClusterRoleBinding, validateRoleBindingUpdate}},
    {kAdmission, "v1", "MutatingWebhookConfiguration", {nullptr, nullptr, validateWebhooks}},
    {kAdmission, "v1", "ValidatingWebhookConfiguration", {nullptr, nullptr, validateWebhooks}},
    {"authentication.k8s.io", "v1", "TokenReview", {nullptr, nullptr, validateTokenReview}},
    {kAuthorization, "v1", "SubjectAccessReview", {nullptr, nullptr, validateAccessReview}},
    {kAuthorization, "v1", "LocalSubjectAccessReview", {nullptr, nullptr, validateAccessReview}},
    {kAuthorization, "v1", "SelfSubjectAccessReview", {nullptr, nullptr, validateAccessReview}},
    {"apiextensions.k8s.io",
     "v1",
     "CustomResourceDefinition",
     {defaultCustomResourceDefinition, nullptr, validateCrd, validateCrdUpdate}},
};

template <size_t N>
const Row* find(const Row (&rows)[N], std::string_view group, std::string_view version,
                std::string_view kind) {
  for (const Row& row : rows)
    if (row.kind == kind && row.group == group && row.version == version) return &row;
  return nullptr;
}

}  // namespace

KindRules rulesOf(std::string_view group, std::string_view version, std::string_view kind) {
  for (const Row* row :
       {find(kCoreRows, group, version, kind), find(kWorkloadRows, group, version, kind),
        find(kClusterRows, group, version, kind)})
    if (row != nullptr) return row->rules;
  return {};
}

}  // namespace mangrove::apiserver
