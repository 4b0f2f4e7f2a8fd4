#pragma once
// The rules of built-in kinds, one function per kind, listed in rules.cc. Objects have passed
// decode(): types are right, but any field may be missing. Enumerations of the tables and metadata
// are checked elsewhere (object_rules.h). Pure; any thread.

#include "apiserver/kinds/inspect.h"
#include "apiserver/schema/field_error.h"
#include "json/value.h"

namespace mangrove::apiserver {

using Validate = void(const json::Object& object, FieldErrors& errors);
using ValidateUpdate = void(const json::Object& now, const json::Object& old, FieldErrors& errors);

// Parts that several kinds share.
void checkPodSpec(const Inspect& spec);
void checkPodTemplate(const Inspect& parent, std::string_view key = "template");
void checkContainer(const Inspect& container, const Inspect& spec);
void checkVolumes(const Inspect& spec);
void checkPlacement(const Inspect& spec);  // node selectors, affinity, tolerations, spread
void checkResources(const Inspect& resources);
void checkResourceAmounts(const Inspect& owner, std::string_view key);
void checkProbes(const Inspect& container);
// A LabelSelector; absent is fine.
void checkSelector(const Inspect& selector);
// intOrString: not negative, percentages up to 100%.
void checkCountOrPercent(const Inspect& owner, std::string_view key);
void checkClaimSpec(const Inspect& spec);
void checkPort(const Inspect& owner, std::string_view key);  // 1…65535

Validate validatePod, validatePodTemplate;
ValidateUpdate validatePodUpdate;
// Through /resize only cpu and memory of containers change; through /ephemeralcontainers only new
// ephemeral containers come.
ValidateUpdate validatePodResize, validateEphemeralContainers;

Validate validateDeployment, validateReplicaSet, validateStatefulSet, validateDaemonSet;
Validate validateReplicationController, validateControllerRevision, validateJob, validateCronJob;
ValidateUpdate validateDeploymentUpdate, validateReplicaSetUpdate, validateStatefulSetUpdate;
ValidateUpdate validateDaemonSetUpdate, validateControllerRevisionUpdate, validateJobUpdate;

Validate validateService, validateEndpoints, validateEndpointSlice, validateIngress;
Validate validateNetworkPolicy, validateIngressClass, validateIpAddress, validateServiceCidr;
ValidateUpdate validateIpAddressUpdate, validateServiceCidrUpdate;
ValidateUpdate validateServiceUpdate, validateEndpointSliceUpdate, validateIngressClassUpdate;

Validate validateConfigMap, validateSecret;
ValidateUpdate validateConfigMapUpdate, validateSecretUpdate;

Validate validateVolume, validateClaim, validateStorageClass, validateCsiNode, validateCsiDriver;
Validate validateVolumeAttachment, validateCsiStorageCapacity;
ValidateUpdate validateVolumeUpdate, validateClaimUpdate, validateStorageClassUpdate;
ValidateUpdate validateVolumeAttachmentUpdate, validateCsiStorageCapacityUpdate;
ValidateUpdate validateCsiDriverUpdate, validateCsiNodeUpdate;

Validate validateNode, validateNamespace, validateEvent, validateEventV1, validateLease;
Validate validateResourceQuota, validateLimitRange, validateRuntimeClass, validateBinding;
ValidateUpdate validateNodeUpdate, validateRuntimeClassUpdate;

Validate validateDisruptionBudget, validatePriorityClass, validateAutoscaler;
ValidateUpdate validatePriorityClassUpdate;

Validate validateRole, validateClusterRole, validateRoleBinding, validateClusterRoleBinding;
ValidateUpdate validateRoleBindingUpdate;
Validate validateWebhooks;
Validate validateAccessReview, validateTokenReview;

}  // namespace mangrove::apiserver
