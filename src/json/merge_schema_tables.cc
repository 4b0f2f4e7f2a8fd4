// The rules as of Kubernetes 1.35, each row a fact of the published API types. Lists that are
// missing here are replaced whole, among them tolerations, taints, container arguments, envFrom and
// affinity terms.
#include <algorithm>

#include "json/merge_schema.h"

namespace mangrove::json {
namespace {

constexpr auto kMerge = Strategy::kMerge;
constexpr auto kUsual = Strategy::kUsual;

constexpr MergeField kMetaFields[] = {
    {"ownerReferences", kMerge, "uid"},
    {"finalizers", kMerge},
};
constexpr MergeSchema kMeta{"ObjectMeta", kMetaFields};
constexpr MergeField kMetadata{"metadata", kUsual, {}, &kMeta};

constexpr MergeField kPlainFields[] = {kMetadata};
constexpr MergeSchema kPlain{"object", kPlainFields};

constexpr MergeField kConditionFields[] = {{"conditions", kMerge, "type"}};
constexpr MergeSchema kConditions{"status with conditions", kConditionFields};
constexpr MergeField kConditionStatus{"status", kUsual, {}, &kConditions};

// Containers and pods.

constexpr MergeField kContainerFields[] = {
    {"ports", kMerge, "containerPort"},  // the protocol is not part of the key
    {"env", kMerge, "name"},
    {"volumeMounts", kMerge, "mountPath"},
    {"volumeDevices", kMerge, "devicePath"},
};
constexpr MergeSchema kContainer{"Container", kContainerFields};

constexpr MergeField kEphemeralFields[] = {{"volumeClaimTemplate", kUsual, {}, &kPlain}};
constexpr MergeSchema kEphemeral{"EphemeralVolumeSource", kEphemeralFields};
constexpr MergeField kVolumeFields[] = {{"ephemeral", kUsual, {}, &kEphemeral}};
constexpr MergeSchema kVolume{"Volume", kVolumeFields};

constexpr MergeField kPodSpecFields[] = {
    {"volumes", kMerge, "name", &kVolume, true},
    {"initContainers", kMerge, "name", &kContainer},
    {"containers", kMerge, "name", &kContainer},
    {"ephemeralContainers", kMerge, "name", &kContainer},
    {"imagePullSecrets", kMerge, "name"},
    {"hostAliases", kMerge, "ip"},
    {"topologySpreadConstraints", kMerge, "topologyKey"},
    {"schedulingGates", kMerge, "name"},
    {"resourceClaims", kMerge, "name", nullptr, true},
};
constexpr MergeSchema kPodSpec{"PodSpec", kPodSpecFields};

constexpr MergeField kPodStatusFields[] = {
    {"conditions", kMerge, "type"},
    {"hostIPs", kMerge, "ip"},
    {"podIPs", kMerge, "ip"},
    {"resourceClaimStatuses", kMerge, "name", nullptr, true},
};
constexpr MergeSchema kPodStatus{"PodStatus", kPodStatusFields};

constexpr MergeField kPodFields[] = {
    kMetadata,
    {"spec", kUsual, {}, &kPodSpec},
    {"status", kUsual, {}, &kPodStatus},
};
constexpr MergeSchema kPod{"Pod", kPodFields};

constexpr MergeField kTemplateFields[] = {kMetadata, {"spec", kUsual, {}, &kPodSpec}};
constexpr MergeSchema kTemplate{"PodTemplateSpec", kTemplateFields};
constexpr MergeField kTemplateField{"template", kUsual, {}, &kTemplate};

constexpr MergeField kPodTemplateFields[] = {kMetadata, kTemplateField};
constexpr MergeSchema kPodTemplate{"PodTemplate", kPodTemplateFields};

// Nodes, services and the rest of the core group.

constexpr MergeField kNodeSpecFields[] = {{"podCIDRs", kMerge}};
constexpr MergeSchema kNodeSpec{"NodeSpec", kNodeSpecFields};
constexpr MergeField kNodeStatusFields[] = {
    {"conditions", kMerge, "type"},
    {"addresses", kMerge, "type"},
};
constexpr MergeSchema kNodeStatus{"NodeStatus", kNodeStatusFields};
constexpr MergeField kNodeFields[] = {
    kMetadata,
    {"spec", kUsual, {}, &kNodeSpec},
    {"status", kUsual, {}, &kNodeStatus},
};
constexpr MergeSchema kNode{"Node", kNodeFields};

constexpr MergeField kServiceSpecFields[] = {{"ports", kMerge, "port"}};
constexpr MergeSchema kServiceSpec{"ServiceSpec", kServiceSpecFields};
constexpr MergeField kServiceFields[] = {
    kMetadata, {"spec", kUsual, {}, &kServiceSpec}, kConditionStatus};
constexpr MergeSchema kService{"Service", kServiceFields};

constexpr MergeField kServiceAccountFields[] = {kMetadata, {"secrets", kMerge, "name"}};
constexpr MergeSchema kServiceAccount{"ServiceAccount", kServiceAccountFields};

constexpr MergeField kWithConditionsFields[] = {kMetadata, kConditionStatus};
constexpr MergeSchema kWithConditions{"object with conditions", kWithConditionsFields};

// Workloads.

constexpr MergeField kReplicatedSpecFields[] = {kTemplateField};
constexpr MergeSchema kReplicatedSpec{"spec with a pod template", kReplicatedSpecFields};
constexpr MergeField kReplicatedFields[] = {
    kMetadata, {"spec", kUsual, {}, &kReplicatedSpec}, kConditionStatus};
constexpr MergeSchema kReplicated{"workload", kReplicatedFields};

constexpr MergeField kDeploymentSpecFields[] = {
    kTemplateField,
    {"strategy", kUsual, {}, nullptr, true},
};
constexpr MergeSchema kDeploymentSpec{"DeploymentSpec", kDeploymentSpecFields};
constexpr MergeField kDeploymentFields[] = {
    kMetadata, {"spec", kUsual, {}, &kDeploymentSpec}, kConditionStatus};
constexpr MergeSchema kDeployment{"Deployment", kDeploymentFields};

constexpr MergeField kJobTemplateFields[] = {kMetadata, {"spec", kUsual, {}, &kReplicatedSpec}};
constexpr MergeSchema kJobTemplate{"JobTemplateSpec", kJobTemplateFields};
constexpr MergeField kCronJobSpecFields[] = {{"jobTemplate", kUsual, {}, &kJobTemplate}};
constexpr MergeSchema kCronJobSpec{"CronJobSpec", kCronJobSpecFields};
constexpr MergeField kCronJobFields[] = {kMetadata, {"spec", kUsual, {}, &kCronJobSpec}};
constexpr MergeSchema kCronJob{"CronJob", kCronJobFields};

// Policy, storage, admission.

constexpr MergeField kBudgetSpecFields[] = {{"selector", Strategy::kReplace}};
constexpr MergeSchema kBudgetSpec{"PodDisruptionBudgetSpec", kBudgetSpecFields};
constexpr MergeField kBudgetFields[] = {
    kMetadata, {"spec", kUsual, {}, &kBudgetSpec}, kConditionStatus};
constexpr MergeSchema kBudget{"PodDisruptionBudget", kBudgetFields};

constexpr MergeField kCsiNodeSpecFields[] = {{"drivers", kMerge, "name"}};
constexpr MergeSchema kCsiNodeSpec{"CSINodeSpec", kCsiNodeSpecFields};
constexpr MergeField kCsiNodeFields[] = {kMetadata, {"spec", kUsual, {}, &kCsiNodeSpec}};
constexpr MergeSchema kCsiNode{"CSINode", kCsiNodeFields};

constexpr MergeField kWebhookFields[] = {{"matchConditions", kMerge, "name"}};
constexpr MergeSchema kWebhook{"Webhook", kWebhookFields};
constexpr MergeField kWebhooksFields[] = {kMetadata, {"webhooks", kMerge, "name", &kWebhook}};
constexpr MergeSchema kWebhooks{"WebhookConfiguration", kWebhooksFields};

struct Row {
  std::string_view group;
  std::string_view kind;
  const MergeSchema* schema;
};

constexpr Row kKinds[] = {
    {"", "Pod", &kPod},
    {"", "Node", &kNode},
    {"", "Service", &kService},
    {"", "ServiceAccount", &kServiceAccount},
    {"", "Namespace", &kWithConditions},
    {"", "PersistentVolumeClaim", &kWithConditions},
    {"", "ReplicationController", &kReplicated},
    {"", "PodTemplate", &kPodTemplate},
    {"", "ConfigMap", &kPlain},
    {"", "Secret", &kPlain},
    {"", "Event", &kPlain},
    {"", "Endpoints", &kPlain},
    {"", "PersistentVolume", &kPlain},
    {"", "ResourceQuota", &kPlain},
    {"", "LimitRange", &kPlain},
    {"apps", "Deployment", &kDeployment},
    {"apps", "ReplicaSet", &kReplicated},
    {"apps", "DaemonSet", &kReplicated},
    {"apps", "StatefulSet", &kReplicated},
    {"apps", "ControllerRevision", &kPlain},
    {"batch", "Job", &kReplicated},
    {"batch", "CronJob", &kCronJob},
    {"policy", "PodDisruptionBudget", &kBudget},
    {"autoscaling", "HorizontalPodAutoscaler", &kWithConditions},
    {"coordination.k8s.io", "Lease", &kPlain},
    {"discovery.k8s.io", "EndpointSlice", &kPlain},
    {"events.k8s.io", "Event", &kPlain},
    {"networking.k8s.io", "Ingress", &kPlain},
    {"networking.k8s.io", "NetworkPolicy", &kPlain},
    {"rbac.authorization.k8s.io", "Role", &kPlain},
    {"rbac.authorization.k8s.io", "RoleBinding", &kPlain},
    {"rbac.authorization.k8s.io", "ClusterRole", &kPlain},
    {"rbac.authorization.k8s.io", "ClusterRoleBinding", &kPlain},
    {"scheduling.k8s.io", "PriorityClass", &kPlain},
    {"storage.k8s.io", "StorageClass", &kPlain},
    {"storage.k8s.io", "CSIDriver", &kPlain},
    {"storage.k8s.io", "CSINode", &kCsiNode},
    {"storage.k8s.io", "CSIStorageCapacity", &kPlain},
    {"storage.k8s.io", "VolumeAttachment", &kPlain},
    {"admissionregistration.k8s.io", "MutatingWebhookConfiguration", &kWebhooks},
    {"admissionregistration.k8s.io", "ValidatingWebhookConfiguration", &kWebhooks},
};

}  // namespace

const MergeField* MergeSchema::find(std::string_view field) const {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const MergeField& f) { return f.name == field; });
  return found == fields.end() ? nullptr : &*found;
}

const MergeSchema* mergeSchemaOf(std::string_view group, std::string_view kind) {
  for (const Row& row : kKinds)
    if (row.group == group && row.kind == kind) return row.schema;
  return nullptr;
}

const MergeSchema& plainObjectSchema() {
  return kPlain;
}

}  // namespace mangrove::json
