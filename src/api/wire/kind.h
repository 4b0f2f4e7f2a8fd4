#pragma once
// The kinds we touch: what they are called, and where the server keeps them.
//
//   kind::kPod.path("default", "web-0", "status")
//     → "/api/v1/namespaces/default/pods/web-0/status"
//   kind::kNodeMetric.path("", "n1")
//     → "/apis/slo.koordinator.sh/v1alpha1/nodemetrics/n1"
//   const Kind* k = findKind("apps/v1", "ReplicaSet");
//
// Constants with static storage: pass `const Kind&`, compare with ==. A kind that is not in the
// catalogue (found by discovery) can be built the same way as long as its texts outlive it.

#include <span>
#include <string>
#include <string_view>

namespace mangrove::api {

struct Kind {
  std::string_view group;  // "" is the core group
  std::string_view version;
  std::string_view kind;
  std::string_view plural;
  bool namespaced = false;
  bool hasStatus = false;  // status is a subresource of its own

  std::string apiVersion() const;  // "v1", "apps/v1"
  std::string listKind() const { return std::string(kind) + "List"; }
  // Where objects are listed and created; "" lists all namespaces. Parts are percent-encoded.
  std::string path(std::string_view ns = "") const;
  std::string path(std::string_view ns, std::string_view name,
                   std::string_view subresource = "") const;
  bool operator==(const Kind&) const = default;
};

struct GroupVersion {
  std::string_view group;
  std::string_view version;
  bool operator==(const GroupVersion&) const = default;
};
// "v1" is the core group; "a/b/c" is nothing (both empty), as are "", "/v1" and "apps/".
GroupVersion parseApiVersion(std::string_view apiVersion);

std::span<const Kind> allKinds();
// nullptr when it is not in the catalogue.
const Kind* findKind(std::string_view apiVersion, std::string_view kind);
// By the name in a path; the version may be "".
const Kind* findPlural(std::string_view group, std::string_view version, std::string_view plural);

namespace kind {

// Columns: group, version, kind, plural, namespaced, status subresource.
// Core.
inline constexpr Kind kPod{"", "v1", "Pod", "pods", true, true};
inline constexpr Kind kNode{"", "v1", "Node", "nodes", false, true};
inline constexpr Kind kNamespace{"", "v1", "Namespace", "namespaces", false, true};
inline constexpr Kind kConfigMap{"", "v1", "ConfigMap", "configmaps", true, false};
inline constexpr Kind kSecret{"", "v1", "Secret", "secrets", true, false};
inline constexpr Kind kService{"", "v1", "Service", "services", true, true};
inline constexpr Kind kServiceAccount{"", "v1", "ServiceAccount", "serviceaccounts", true, false};
inline constexpr Kind kEvent{"", "v1", "Event", "events", true, false};
inline constexpr Kind kBinding{"", "v1", "Binding", "bindings", true, false};
inline constexpr Kind kPersistentVolume{"",    "v1", "PersistentVolume", "persistentvolumes",
                                        false, true};
inline constexpr Kind kPersistentVolumeClaim{
    "", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", true, true};
inline constexpr Kind kReplicationController{
    "", "v1", "ReplicationController", "replicationcontrollers", true, true};
inline constexpr Kind kResourceQuota{"", "v1", "ResourceQuota", "resourcequotas", true, true};
inline constexpr Kind kLimitRange{"", "v1", "LimitRange", "limitranges", true, false};
// Workloads.
inline constexpr Kind kDeployment{"apps", "v1", "Deployment", "deployments", true, true};
inline constexpr Kind kReplicaSet{"apps", "v1", "ReplicaSet", "replicasets", true, true};
inline constexpr Kind kStatefulSet{"apps", "v1", "StatefulSet", "statefulsets", true, true};
inline constexpr Kind kDaemonSet{"apps", "v1", "DaemonSet", "daemonsets", true, true};
inline constexpr Kind kJob{"batch", "v1", "Job", "jobs", true, true};
inline constexpr Kind kCronJob{"batch", "v1", "CronJob", "cronjobs", true, true};
// Scheduling, policy, coordination.
inline constexpr Kind kPriorityClass{"scheduling.k8s.io", "v1",  "PriorityClass",
                                     "priorityclasses",   false, false};
inline constexpr Kind kPodDisruptionBudget{
    "policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", true, true};
inline constexpr Kind kEviction{"policy", "v1", "Eviction", "evictions", true, false};
inline constexpr Kind kLease{"coordination.k8s.io", "v1", "Lease", "leases", true, false};
inline constexpr Kind kEventV1{"events.k8s.io", "v1", "Event", "events", true, false};
// Storage.
inline constexpr Kind kStorageClass{"storage.k8s.io", "v1",  "StorageClass",
                                    "storageclasses", false, false};
inline constexpr Kind kCsiNode{"storage.k8s.io", "v1", "CSINode", "csinodes", false, false};
inline constexpr Kind kCsiDriver{"storage.k8s.io", "v1", "CSIDriver", "csidrivers", false, false};
inline constexpr Kind kCsiStorageCapacity{"storage.k8s.io",       "v1", "CSIStorageCapacity",
                                          "csistoragecapacities", true, false};
inline constexpr Kind kVolumeAttachment{"storage.k8s.io",    "v1",  "VolumeAttachment",
                                        "volumeattachments", false, true};
// Dynamic resources.
inline constexpr Kind kResourceClaim{"resource.k8s.io", "v1", "ResourceClaim",
                                     "resourceclaims",  true, true};
inline constexpr Kind kResourceSlice{"resource.k8s.io", "v1",  "ResourceSlice",
                                     "resourceslices",  false, false};
inline constexpr Kind kDeviceClass{"resource.k8s.io", "v1",  "DeviceClass",
                                   "deviceclasses",   false, false};
// Admission, definitions, access.
inline constexpr Kind kMutatingWebhook{
    "admissionregistration.k8s.io",  "v1",  "MutatingWebhookConfiguration",
    "mutatingwebhookconfigurations", false, false};
inline constexpr Kind kValidatingWebhook{
    "admissionregistration.k8s.io",    "v1",  "ValidatingWebhookConfiguration",
    "validatingwebhookconfigurations", false, false};
inline constexpr Kind kCustomResourceDefinition{
    "apiextensions.k8s.io",      "v1",  "CustomResourceDefinition",
    "customresourcedefinitions", false, true};
inline constexpr Kind kRole{"rbac.authorization.k8s.io", "v1", "Role", "roles", true, false};
inline constexpr Kind kRoleBinding{
    "rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings", true, false};
inline constexpr Kind kClusterRole{
    "rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", false, false};
inline constexpr Kind kClusterRoleBinding{"rbac.authorization.k8s.io", "v1",  "ClusterRoleBinding",
                                          "clusterrolebindings",       false, false};
inline constexpr Kind kTokenReview{"authentication.k8s.io", "v1",  "TokenReview",
                                   "tokenreviews",          false, false};
inline constexpr Kind kSubjectAccessReview{"authorization.k8s.io", "v1",  "SubjectAccessReview",
                                           "subjectaccessreviews", false, false};
// Koordinator.
inline constexpr Kind kNodeMetric{"slo.koordinator.sh", "v1alpha1", "NodeMetric",
                                  "nodemetrics",        false,      true};
inline constexpr Kind kNodeSlo{"slo.koordinator.sh", "v1alpha1", "NodeSLO",
                               "nodeslos",           false,      true};
inline constexpr Kind kReservation{
    "scheduling.koordinator.sh", "v1alpha1", "Reservation", "reservations", false, true};
inline constexpr Kind kPodMigrationJob{"scheduling.koordinator.sh", "v1alpha1", "PodMigrationJob",
                                       "podmigrationjobs",          false,      true};
inline constexpr Kind kDevice{
    "scheduling.koordinator.sh", "v1alpha1", "Device", "devices", false, false};
inline constexpr Kind kClusterNetworkTopology{
    "scheduling.koordinator.sh", "v1alpha1", "ClusterNetworkTopology",
    "clusternetworktopologies",  false,      true};
inline constexpr Kind kScheduleExplanation{
    "scheduling.koordinator.sh", "v1alpha1", "ScheduleExplanation",
    "scheduleexplanations",      true,       true};
inline constexpr Kind kClusterColocationProfile{
    "config.koordinator.sh",     "v1alpha1", "ClusterColocationProfile",
    "clustercolocationprofiles", false,      true};
inline constexpr Kind kElasticQuotaProfile{
    "quota.koordinator.sh", "v1alpha1", "ElasticQuotaProfile", "elasticquotaprofiles", true, false};
inline constexpr Kind kRecommendation{"analysis.koordinator.sh", "v1alpha1", "Recommendation",
                                      "recommendations",         true,       true};
// Foreign kinds Koordinator builds on.
inline constexpr Kind kElasticQuota{"scheduling.sigs.k8s.io", "v1alpha1", "ElasticQuota",
                                    "elasticquotas",          true,       false};
inline constexpr Kind kPodGroup{
    "scheduling.sigs.k8s.io", "v1alpha1", "PodGroup", "podgroups", true, false};
inline constexpr Kind kNodeResourceTopology{
    "topology.node.k8s.io",   "v1alpha1", "NodeResourceTopology",
    "noderesourcetopologies", false,      false};

}  // namespace kind
}  // namespace mangrove::api
