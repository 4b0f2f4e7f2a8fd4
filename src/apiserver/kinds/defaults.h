#pragma once
// The computed defaults of built-in kinds, one function per kind, listed in rules.cc. Everything
// that is a plain value is in the tables instead. Objects have passed decode(). Pure; any thread.

#include <string_view>

#include "json/value.h"

namespace mangrove::apiserver {

// "Always" for images without tag or with :latest, otherwise "IfNotPresent".
std::string_view pullPolicyFor(std::string_view image);

void defaultPodSpec(json::Object& spec);
void defaultPod(json::Object& pod);
void startPod(json::Object& pod);
void defaultPodTemplate(json::Object& object);  // kinds with .template at the top

void defaultDeployment(json::Object& object);
void defaultReplicaSet(json::Object& object);
void defaultStatefulSet(json::Object& object);
void defaultDaemonSet(json::Object& object);
void defaultReplicationController(json::Object& object);
void defaultJob(json::Object& object);
void startJob(json::Object& object);
void defaultCronJob(json::Object& object);

void defaultNamespace(json::Object& object);
void startNamespace(json::Object& object);
void keepNamespaceFinalizers(json::Object& now, const json::Object& old);
void startPending(json::Object& object);  // claims and volumes begin with phase Pending
void defaultNode(json::Object& object);
void defaultService(json::Object& object);
void startService(json::Object& object);
void keepServiceAddresses(json::Object& now, const json::Object& old);
void defaultSecret(json::Object& object);
void defaultLimitRange(json::Object& object);
void defaultAutoscaler(json::Object& object);  // v2
void defaultRoleBinding(json::Object& object);
void defaultNetworkPolicy(json::Object& object);
void defaultCustomResourceDefinition(json::Object& object);

}  // namespace mangrove::apiserver
