#pragma once
// Every label, annotation, resource and environment name of the wire contract, spelled once.
// Nothing else in the tree may contain one of these strings; a test (names_test.cc) checks that no
// two constants are equal by accident.
//
//   auto qos = pod.meta.labels.find(label::kQosClass);
//
// Names are grouped by what carries them: label, annotation, resource, env, and a few well-known
// object names. `std::string_view` constants: use them from any thread, pass them by value.

#include <string_view>

namespace mangrove::api {

// Prefixes by which foreign code recognises keys of this family.
namespace domain {
inline constexpr std::string_view kKoordinator = "koordinator.sh/";
inline constexpr std::string_view kScheduling = "scheduling.koordinator.sh/";
inline constexpr std::string_view kSchedulingInternal = "internal.scheduling.koordinator.sh/";
inline constexpr std::string_view kNode = "node.koordinator.sh/";
inline constexpr std::string_view kPod = "pod.koordinator.sh/";
inline constexpr std::string_view kQuota = "quota.scheduling.koordinator.sh/";
inline constexpr std::string_view kGang = "gang.scheduling.koordinator.sh/";
inline constexpr std::string_view kConfig = "config.koordinator.sh/";
inline constexpr std::string_view kKubelet = "kubelet.koordinator.sh/";
inline constexpr std::string_view kMangrove = "mangrove.io/";
}  // namespace domain

namespace resource {
// Native.
inline constexpr std::string_view kCpu = "cpu";
inline constexpr std::string_view kMemory = "memory";
inline constexpr std::string_view kEphemeralStorage = "ephemeral-storage";
inline constexpr std::string_view kStorage = "storage";
inline constexpr std::string_view kPods = "pods";
inline constexpr std::string_view kHugePagesPrefix = "hugepages-";
inline constexpr std::string_view kHugePages2Mi = "hugepages-2Mi";
inline constexpr std::string_view kHugePages1Gi = "hugepages-1Gi";
// Reclaimed: cpu in milli-cores as a plain integer, memory in bytes.
inline constexpr std::string_view kBatchCpu = "kubernetes.io/batch-cpu";
inline constexpr std::string_view kBatchMemory = "kubernetes.io/batch-memory";
inline constexpr std::string_view kMidCpu = "kubernetes.io/mid-cpu";
inline constexpr std::string_view kMidMemory = "kubernetes.io/mid-memory";
// Devices: percent of one device (100 = one card), gpu-memory in bytes, gpu.shared in cards.
inline constexpr std::string_view kGpu = "koordinator.sh/gpu";
inline constexpr std::string_view kGpuCore = "koordinator.sh/gpu-core";
inline constexpr std::string_view kGpuMemory = "koordinator.sh/gpu-memory";
inline constexpr std::string_view kGpuMemoryRatio = "koordinator.sh/gpu-memory-ratio";
inline constexpr std::string_view kGpuShared = "koordinator.sh/gpu.shared";
inline constexpr std::string_view kRdma = "koordinator.sh/rdma";
inline constexpr std::string_view kFpga = "koordinator.sh/fpga";
// Vendors.
inline constexpr std::string_view kNvidiaGpu = "nvidia.com/gpu";
inline constexpr std::string_view kHygonDcu = "dcu.com/gpu";
inline constexpr std::string_view kAmdGpu = "amd.com/gpu";
inline constexpr std::string_view kHuaweiNpuCore = "huawei.com/npu-core";
inline constexpr std::string_view kHuaweiNpuCpu = "huawei.com/npu-cpu";
inline constexpr std::string_view kHuaweiNpuDvpp = "huawei.com/npu-dvpp";
// Deprecated spellings; schedulers and descheduler rewrite them to the names above
// (deprecatedResources()).
inline constexpr std::string_view kOldBatchCpu = "koordinator.sh/batch-cpu";
inline constexpr std::string_view kOldBatchMemory = "koordinator.sh/batch-memory";
inline constexpr std::string_view kOldRdma = "kubernetes.io/rdma";
inline constexpr std::string_view kOldFpga = "kubernetes.io/fpga";
inline constexpr std::string_view kOldGpu = "kubernetes.io/gpu";
inline constexpr std::string_view kOldGpuCore = "kubernetes.io/gpu-core";
inline constexpr std::string_view kOldGpuMemory = "kubernetes.io/gpu-memory";
inline constexpr std::string_view kOldGpuMemoryRatio = "kubernetes.io/gpu-memory-ratio";
}  // namespace resource

namespace label {
// Pods: classes and eviction.
inline constexpr std::string_view kQosClass = "koordinator.sh/qosClass";
inline constexpr std::string_view kPriority = "koordinator.sh/priority";
inline constexpr std::string_view kPriorityClass = "koordinator.sh/priority-class";
inline constexpr std::string_view kEvictionEnabled = "koordinator.sh/eviction-enabled";
inline constexpr std::string_view kMutatingUpdate = "pod.koordinator.sh/mutating-update";
inline constexpr std::string_view kSkipEnhancedValidation =
    "pod.koordinator.sh/skip-enhanced-validation";
inline constexpr std::string_view kPreAllocatable = "pod.koordinator.sh/is-pre-allocatable";
inline constexpr std::string_view kCoreSchedGroupId = "koordinator.sh/core-sched-group-id";
inline constexpr std::string_view kCoreSchedPolicy = "koordinator.sh/core-sched-policy";
inline constexpr std::string_view kGpuIsolationProvider = "koordinator.sh/gpu-isolation-provider";
inline constexpr std::string_view kBindingAdmissionBypass =
    "koordinator.sh/binding-admission-bypass";
// Pods: scheduling.
inline constexpr std::string_view kSchedulerName = "scheduling.koordinator.sh/scheduler-name";
inline constexpr std::string_view kPreemptionPolicy = "scheduling.koordinator.sh/preemption-policy";
inline constexpr std::string_view kDisablePreemptible =
    "scheduling.koordinator.sh/disable-preemptible";
inline constexpr std::string_view kOperatingMode = "scheduling.koordinator.sh/operating-mode";
inline constexpr std::string_view kReservationIgnored =
    "scheduling.koordinator.sh/reservation-ignored";
inline constexpr std::string_view kPreAllocationRequired =
    "scheduling.koordinator.sh/pre-allocation-required";
inline constexpr std::string_view kReservationOrder = "scheduling.koordinator.sh/reservation-order";
inline constexpr std::string_view kQuestionedObjectKey =
    "scheduling.koordinator.sh/questioned-object-key";
inline constexpr std::string_view kTopologyKeyToExplain =
    "scheduling.koordinator.sh/topology-key-to-explain";
inline constexpr std::string_view kPodGroup = "pod-group.scheduling.sigs.k8s.io";
inline constexpr std::string_view kOldPodGroupName = "pod-group.scheduling.sigs.k8s.io/name";
inline constexpr std::string_view kOldPodGroupMinAvailable =
    "pod-group.scheduling.sigs.k8s.io/min-available";
// Nodes.
inline constexpr std::string_view kCpuReclaimRatio = "node.koordinator.sh/cpu-reclaim-ratio";
inline constexpr std::string_view kMemoryReclaimRatio = "node.koordinator.sh/memory-reclaim-ratio";
inline constexpr std::string_view kMidStaticCpuReservedRatio =
    "node.koordinator.sh/mid-static-cpu-reserved-ratio";
inline constexpr std::string_view kMidStaticMemoryReservedRatio =
    "node.koordinator.sh/mid-static-memory-reserved-ratio";
inline constexpr std::string_view kEnableNumaReservation =
    "node.koordinator.sh/enable-numa-reservation";
inline constexpr std::string_view kCpuNormalizationEnabled =
    "node.koordinator.sh/cpu-normalization-enabled";
inline constexpr std::string_view kCpuBindPolicy = "node.koordinator.sh/cpu-bind-policy";
inline constexpr std::string_view kNumaAllocateStrategy =
    "node.koordinator.sh/numa-allocate-strategy";
inline constexpr std::string_view kNumaTopologyPolicy = "node.koordinator.sh/numa-topology-policy";
inline constexpr std::string_view kGpuVendor = "node.koordinator.sh/gpu-vendor";
inline constexpr std::string_view kGpuModel = "node.koordinator.sh/gpu-model";
inline constexpr std::string_view kGpuDriverVersion = "node.koordinator.sh/gpu-driver-version";
inline constexpr std::string_view kGpuPartitionPolicy = "node.koordinator.sh/gpu-partition-policy";
inline constexpr std::string_view kSecondaryDeviceWellPlanned =
    "node.koordinator.sh/secondary-device-well-planned";
inline constexpr std::string_view kHamiVgpuNode = "hami.io/vgpu-node";
inline constexpr std::string_view kOldGpuDriver = "kubernetes.io/gpu-driver";
inline constexpr std::string_view kOldGpuModel = "kubernetes.io/gpu-model";
// Quotas. kQuotaName and kQuotaPreemptible are also read on pods.
inline constexpr std::string_view kQuotaName = "quota.scheduling.koordinator.sh/name";
inline constexpr std::string_view kQuotaPreemptible = "quota.scheduling.koordinator.sh/preemptible";
inline constexpr std::string_view kQuotaIsParent = "quota.scheduling.koordinator.sh/is-parent";
inline constexpr std::string_view kQuotaParent = "quota.scheduling.koordinator.sh/parent";
inline constexpr std::string_view kQuotaAllowLentResource =
    "quota.scheduling.koordinator.sh/allow-lent-resource";
inline constexpr std::string_view kQuotaProfile = "quota.scheduling.koordinator.sh/profile";
inline constexpr std::string_view kQuotaIsRoot = "quota.scheduling.koordinator.sh/is-root";
inline constexpr std::string_view kQuotaTreeId = "quota.scheduling.koordinator.sh/tree-id";
inline constexpr std::string_view kQuotaIgnoreDefaultTree =
    "quota.scheduling.koordinator.sh/ignore-default-tree";
inline constexpr std::string_view kQuotaAllowForceUpdate =
    "quota.scheduling.koordinator.sh/allow-force-update";
// Other objects.
inline constexpr std::string_view kControllerManaged = "config.koordinator.sh/controller-managed";
inline constexpr std::string_view kConfigMapType = "koordinator.sh/configmap-type";
inline constexpr std::string_view kManagedBy = "app.kubernetes.io/managed-by";
// Kubernetes' own.
inline constexpr std::string_view kHostname = "kubernetes.io/hostname";
inline constexpr std::string_view kArch = "kubernetes.io/arch";
inline constexpr std::string_view kOs = "kubernetes.io/os";
inline constexpr std::string_view kZone = "topology.kubernetes.io/zone";
inline constexpr std::string_view kRegion = "topology.kubernetes.io/region";
inline constexpr std::string_view kOldZone = "failure-domain.beta.kubernetes.io/zone";
inline constexpr std::string_view kOldRegion = "failure-domain.beta.kubernetes.io/region";
inline constexpr std::string_view kNamespaceName = "kubernetes.io/metadata.name";
inline constexpr std::string_view kPodTemplateHash = "pod-template-hash";
}  // namespace label

namespace annotation {
// Pods: node agent.
inline constexpr std::string_view kEvictionPolicy = "koordinator.sh/eviction-policy";
inline constexpr std::string_view kEvictionPriority = "koordinator.sh/eviction-priority";
inline constexpr std::string_view kNetworkQos = "koordinator.sh/networkQOS";
inline constexpr std::string_view kOomScoreAdj = "koordinator.sh/oom-score-adj";
inline constexpr std::string_view kOomScoreAdjSpec = "koordinator.sh/oom-score-adj-spec";
inline constexpr std::string_view kCpuBurst = "koordinator.sh/cpuBurst";
inline constexpr std::string_view kMemoryQos = "koordinator.sh/memoryQOS";
inline constexpr std::string_view kCpuQos = "koordinator.sh/cpuQOS";
inline constexpr std::string_view kBlkioQos = "koordinator.sh/blkioQOS";
inline constexpr std::string_view kResctrl = "node.koordinator.sh/resctrl";
inline constexpr std::string_view kExtendedResourceSpec =
    "node.koordinator.sh/extended-resource-spec";
inline constexpr std::string_view kPreAllocatablePriority =
    "pod.koordinator.sh/pre-allocatable-priority";
inline constexpr std::string_view kReplaceResources = "pod.koordinator.sh/replace-resources";
// Pods: scheduling.
inline constexpr std::string_view kResourceSpec = "scheduling.koordinator.sh/resource-spec";
inline constexpr std::string_view kNumaTopologySpec =
    "scheduling.koordinator.sh/numa-topology-spec";
inline constexpr std::string_view kResourceStatus = "scheduling.koordinator.sh/resource-status";
inline constexpr std::string_view kDeviceAllocated = "scheduling.koordinator.sh/device-allocated";
inline constexpr std::string_view kDeviceAllocateHint =
    "scheduling.koordinator.sh/device-allocate-hint";
inline constexpr std::string_view kDeviceJointAllocate =
    "scheduling.koordinator.sh/device-joint-allocate";
inline constexpr std::string_view kGpuPartitionSpec =
    "scheduling.koordinator.sh/gpu-partition-spec";
inline constexpr std::string_view kGpuPartitions = "scheduling.koordinator.sh/gpu-partitions";
inline constexpr std::string_view kUsageThresholds = "scheduling.koordinator.sh/usage-thresholds";
inline constexpr std::string_view kLoadEstimatedScalingFactors =
    "scheduling.koordinator.sh/load-estimated-scaling-factors";
inline constexpr std::string_view kLoadEstimatedSecondsAfterScheduled =
    "scheduling.koordinator.sh/load-estimated-seconds-after-pod-scheduled";
inline constexpr std::string_view kLoadEstimatedSecondsAfterInitialized =
    "scheduling.koordinator.sh/load-estimated-seconds-after-initialized";
inline constexpr std::string_view kOriginalSchedulerName =
    "internal.scheduling.koordinator.sh/original-scheduler-name";
inline constexpr std::string_view kSchedulingHint =
    "internal.scheduling.koordinator.sh/scheduling-hint";
inline constexpr std::string_view kOldSchedulingHint = "scheduling.koordinator.sh/scheduling-hint";
inline constexpr std::string_view kEvictionCost = "scheduling.koordinator.sh/eviction-cost";
inline constexpr std::string_view kSoftEviction = "scheduling.koordinator.sh/soft-eviction";
inline constexpr std::string_view kReservationOwners =
    "scheduling.koordinator.sh/reservation-owners";
inline constexpr std::string_view kReservationCurrentOwner =
    "scheduling.koordinator.sh/reservation-current-owner";
inline constexpr std::string_view kReservationAllocated =
    "scheduling.koordinator.sh/reservation-allocated";
inline constexpr std::string_view kReservationAffinity =
    "scheduling.koordinator.sh/reservation-affinity";
inline constexpr std::string_view kReservationRestrictedOptions =
    "scheduling.koordinator.sh/reservation-restricted-options";
inline constexpr std::string_view kExactMatchReservation =
    "scheduling.koordinator.sh/exact-match-reservation";
inline constexpr std::string_view kReservePod = "scheduling.koordinator.sh/reserve-pod";
inline constexpr std::string_view kReservationName = "scheduling.koordinator.sh/reservation-name";
inline constexpr std::string_view kReservationNode = "scheduling.koordinator.sh/reservation-node";
inline constexpr std::string_view kReservationResizeAllocatable =
    "scheduling.koordinator.sh/reservation-resize-allocatable";
inline constexpr std::string_view kIsPreAllocation = "scheduling.koordinator.sh/is-pre-allocation";
inline constexpr std::string_view kNetworkTopologySelector =
    "scheduling.koordinator.sh/network-topology-selector";
// Gangs.
inline constexpr std::string_view kGangName = "gang.scheduling.koordinator.sh/name";
inline constexpr std::string_view kGangMinAvailable =
    "gang.scheduling.koordinator.sh/min-available";
inline constexpr std::string_view kGangTotalNumber = "gang.scheduling.koordinator.sh/total-number";
inline constexpr std::string_view kGangMode = "gang.scheduling.koordinator.sh/mode";
inline constexpr std::string_view kGangGroups = "gang.scheduling.koordinator.sh/groups";
inline constexpr std::string_view kGangWaitingTime = "gang.scheduling.koordinator.sh/waiting-time";
inline constexpr std::string_view kGangTimeout = "gang.scheduling.koordinator.sh/timeout";
inline constexpr std::string_view kGangMatchPolicy = "gang.scheduling.koordinator.sh/match-policy";
inline constexpr std::string_view kOldGangMatchPolicy =
    "pod-group.scheduling.sigs.k8s.io/match-policy";
inline constexpr std::string_view kGangNetworkTopologySpec =
    "gang.scheduling.koordinator.sh/network-topology-spec";
inline constexpr std::string_view kGangNetworkTopologyIndex =
    "gang.scheduling.koordinator.sh/network-topology-index";
inline constexpr std::string_view kBindGangGroupId =
    "internal.scheduling.koordinator.sh/bind-gang-group-id";
inline constexpr std::string_view kBindGangMemberCount =
    "internal.scheduling.koordinator.sh/bind-gang-member-count";
inline constexpr std::string_view kOldBindGangGroupId =
    "scheduling.koordinator.sh/bind-gang-group-id";
inline constexpr std::string_view kOldBindGangMemberCount =
    "scheduling.koordinator.sh/bind-gang-member-count";
// Nodes.
inline constexpr std::string_view kColocationStrategy = "node.koordinator.sh/colocation-strategy";
inline constexpr std::string_view kNodeReservation = "node.koordinator.sh/reservation";
inline constexpr std::string_view kSystemQosResource = "node.koordinator.sh/system-qos-resource";
inline constexpr std::string_view kNetworkBandwidth = "node.koordinator.sh/network-bandwidth";
inline constexpr std::string_view kCpuNormalizationRatio =
    "node.koordinator.sh/cpu-normalization-ratio";
inline constexpr std::string_view kResourceAmplificationRatio =
    "node.koordinator.sh/resource-amplification-ratio";
inline constexpr std::string_view kRawAllocatable = "node.koordinator.sh/raw-allocatable";
inline constexpr std::string_view kOriginExtendedAllocatable =
    "node.koordinator.sh/originExtendedAllocatable";
inline constexpr std::string_view kThirdPartyAllocations =
    "node.koordinator.sh/thirdPartyAllocations";
// NodeResourceTopology.
inline constexpr std::string_view kCpuBasicInfo = "node.koordinator.sh/cpu-basic-info";
inline constexpr std::string_view kCpuTopology = "node.koordinator.sh/cpu-topology";
inline constexpr std::string_view kPodCpuAllocs = "node.koordinator.sh/pod-cpu-allocs";
inline constexpr std::string_view kCpuSharedPools = "node.koordinator.sh/cpu-shared-pools";
inline constexpr std::string_view kBeCpuSharedPools = "node.koordinator.sh/be-cpu-shared-pools";
inline constexpr std::string_view kKubeletCpuManagerPolicy =
    "kubelet.koordinator.sh/cpu-manager-policy";
// Quotas: resource lists as JSON unless the name says otherwise.
inline constexpr std::string_view kQuotaSharedWeight =
    "quota.scheduling.koordinator.sh/shared-weight";
inline constexpr std::string_view kQuotaRuntime = "quota.scheduling.koordinator.sh/runtime";
inline constexpr std::string_view kQuotaRequest = "quota.scheduling.koordinator.sh/request";
inline constexpr std::string_view kQuotaChildRequest =
    "quota.scheduling.koordinator.sh/child-request";
inline constexpr std::string_view kQuotaResourceKeys =
    "quota.scheduling.koordinator.sh/resource-keys";
inline constexpr std::string_view kQuotaTotalResource =
    "quota.scheduling.koordinator.sh/total-resource";
inline constexpr std::string_view kQuotaUnschedulableResource =
    "quota.scheduling.koordinator.sh/unschedulable-resource";
inline constexpr std::string_view kQuotaNamespaces = "quota.scheduling.koordinator.sh/namespaces";
inline constexpr std::string_view kQuotaGuaranteed = "quota.scheduling.koordinator.sh/guaranteed";
inline constexpr std::string_view kQuotaAllocated = "quota.scheduling.koordinator.sh/allocated";
inline constexpr std::string_view kQuotaNonPreemptibleRequest =
    "quota.scheduling.koordinator.sh/non-preemptible-request";
inline constexpr std::string_view kQuotaNonPreemptibleUsed =
    "quota.scheduling.koordinator.sh/non-preemptible-used";
inline constexpr std::string_view kQuotaAdmission = "quota.scheduling.koordinator.sh/admission";
inline constexpr std::string_view kQuotaMaxStrictCheckResourceKeys =
    "quota.scheduling.koordinator.sh/max-strict-check-resource-keys";
// Other objects.
inline constexpr std::string_view kSkipUpdateResources =
    "config.koordinator.sh/skip-update-resources";
inline constexpr std::string_view kApiApproved = "api-approved.kubernetes.io";
// Kubernetes' own.
inline constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";
inline constexpr std::string_view kMirrorPod = "kubernetes.io/config.mirror";
inline constexpr std::string_view kStaticPodSource = "kubernetes.io/config.source";
inline constexpr std::string_view kStaticPodHash = "kubernetes.io/config.hash";
inline constexpr std::string_view kPodDeletionCost = "controller.kubernetes.io/pod-deletion-cost";
inline constexpr std::string_view kDefaultStorageClass =
    "storageclass.kubernetes.io/is-default-class";
inline constexpr std::string_view kSelectedNode = "volume.kubernetes.io/selected-node";
inline constexpr std::string_view kBindCompleted = "pv.kubernetes.io/bind-completed";
inline constexpr std::string_view kBoundByController = "pv.kubernetes.io/bound-by-controller";
inline constexpr std::string_view kProvisionedBy = "pv.kubernetes.io/provisioned-by";
inline constexpr std::string_view kMigratedPlugins = "storage.alpha.kubernetes.io/migrated-plugins";
inline constexpr std::string_view kOldStorageClass = "volume.beta.kubernetes.io/storage-class";
}  // namespace annotation

namespace taint {
inline constexpr std::string_view kUnschedulable = "node.kubernetes.io/unschedulable";
inline constexpr std::string_view kNotReady = "node.kubernetes.io/not-ready";
inline constexpr std::string_view kUnreachable = "node.kubernetes.io/unreachable";
}  // namespace taint

// Environment variables of the manager's webhook server.
namespace env {
inline constexpr std::string_view kMutatingWebhookName = "MUTATING_WEBHOOK_NAME";
inline constexpr std::string_view kValidatingWebhookName = "VALIDATING_WEBHOOK_NAME";
inline constexpr std::string_view kWebhookHost = "WEBHOOK_HOST";
inline constexpr std::string_view kPodNamespace = "POD_NAMESPACE";
inline constexpr std::string_view kSecretName = "SECRET_NAME";
inline constexpr std::string_view kServiceName = "SERVICE_NAME";
inline constexpr std::string_view kWebhookPort = "WEBHOOK_PORT";
inline constexpr std::string_view kWebhookCertDir = "WEBHOOK_CERT_DIR";
inline constexpr std::string_view kWebhookCertWriter = "WEBHOOK_CERT_WRITER";
inline constexpr std::string_view kNodeName = "NODE_NAME";
}  // namespace env

// What those variables mean when unset.
namespace env_default {
inline constexpr std::string_view kMutatingWebhookName =
    "koordinator-mutating-webhook-configuration";
inline constexpr std::string_view kValidatingWebhookName =
    "koordinator-validating-webhook-configuration";
inline constexpr std::string_view kPodNamespace = "koordinator-system";
inline constexpr std::string_view kSecretName = "koordinator-webhook-certs";
inline constexpr std::string_view kServiceName = "koordinator-webhook-service";
inline constexpr int kWebhookPort = 9876;
inline constexpr std::string_view kWebhookCertDir = "/tmp/koordinator-webhook-certs";
}  // namespace env_default

// Objects everybody agrees on by name.
namespace object {
inline constexpr std::string_view kSystemNamespace = "koordinator-system";
inline constexpr std::string_view kSloConfig =
    "slo-controller-config";  // also the value of kConfigMapType
inline constexpr std::string_view kEnhancedValidatorConfig = "pod-enhanced-validator-config";
inline constexpr std::string_view kSystemQuota = "koordinator-system-quota";
inline constexpr std::string_view kRootQuota = "koordinator-root-quota";
inline constexpr std::string_view kDefaultQuota = "koordinator-default-quota";
inline constexpr std::string_view kSchedulerName = "koord-scheduler";
inline constexpr std::string_view kHamiCore = "HAMi-core";  // value of kGpuIsolationProvider
}  // namespace object

// Keys of the ConfigMap koordinator-system/slo-controller-config; every value is JSON text.
namespace slo_key {
inline constexpr std::string_view kColocation = "colocation-config";
inline constexpr std::string_view kResourceThreshold = "resource-threshold-config";
inline constexpr std::string_view kResourceQos = "resource-qos-config";
inline constexpr std::string_view kCpuBurst = "cpu-burst-config";
inline constexpr std::string_view kSystem = "system-config";
inline constexpr std::string_view kHostApplication = "host-application-config";
inline constexpr std::string_view kCpuNormalization = "cpu-normalization-config";
inline constexpr std::string_view kResourceAmplification = "resource-amplification-config";
}  // namespace slo_key

}  // namespace mangrove::api
