#include "client/bench/api/objects.h"

#include <algorithm>

#include <fmt/format.h>

namespace mangrove::client {

namespace {

Request createIn(Kind kind, std::string ns, std::string body) {
  Request request;
  request.verb = Verb::kCreate;
  request.ref = {kind, std::move(ns), ""};
  request.body = std::move(body);
  return request;
}

std::string condition(const char* type, const char* status, const char* reason) {
  return fmt::format(
      R"({{"type":"{}","status":"{}","reason":"{}","message":"as the kubelet of this node reports","lastHeartbeatTime":"2026-03-01T08:00:00Z","lastTransitionTime":"2026-03-01T07:00:00Z"}})",
      type, status, reason);
}

}  // namespace

std::string benchNodeName(int64_t index) {
  return fmt::format("bench-node-{:05}", index);
}

std::string benchPodName(int64_t index) {
  return fmt::format("shop-{:04}-{:05}", index / 40, index);
}

Request createNamespace(const std::string& name) {
  Request request = createIn(
      kind::kNamespace, "",
      fmt::format(R"({{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"{}"}}}})", name));
  return request;
}

Request createNode(const std::string& label, int64_t index) {
  const std::string name = benchNodeName(index);
  const std::string conditions =
      condition("MemoryPressure", "False", "KubeletHasSufficientMemory") + "," +
      condition("DiskPressure", "False", "KubeletHasNoDiskPressure") + "," +
      condition("Ready", "True", "KubeletReady");
  return createIn(
      kind::kNode, "",
      fmt::format(
          R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{0}","labels":{{"kubernetes.io/hostname":"{0}","kubernetes.io/os":"linux","kubernetes.io/arch":"amd64","topology.kubernetes.io/zone":"z{1}","{2}":"{3}"}},"annotations":{{"node.alpha.kubernetes.io/ttl":"0"}}}},"spec":{{"podCIDR":"10.{4}.{5}.0/24"}},"status":{{"capacity":{{"cpu":"32","memory":"131072Mi","ephemeral-storage":"200Gi","pods":"110"}},"allocatable":{{"cpu":"31500m","memory":"126976Mi","ephemeral-storage":"180Gi","pods":"110"}},"conditions":[{6}],"addresses":[{{"type":"InternalIP","address":"172.16.{4}.{5}"}},{{"type":"Hostname","address":"{0}"}}],"nodeInfo":{{"machineID":"{7:032x}","systemUUID":"{7:032x}","bootID":"{7:032x}","kernelVersion":"6.1.0","osImage":"Debian GNU/Linux 12","containerRuntimeVersion":"containerd://2.0.0","kubeletVersion":"v1.35.0","kubeProxyVersion":"","operatingSystem":"linux","architecture":"amd64"}}}}}})",
          name, index % 3, kBenchLabel, label, index / 256, index % 256, conditions,
          static_cast<uint64_t>(index) * 0x9E3779B97F4A7C15));
}

Request createPod(const std::string& ns, int64_t index) {
  const int64_t app = index / 40;
  return createIn(
      kind::kPod, ns,
      fmt::format(
          R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{0}","labels":{{"app":"shop-{1:04}","tier":"backend","koordinator.sh/qosClass":"LS"}},"annotations":{{"prometheus.io/scrape":"true","prometheus.io/port":"9090"}}}},"spec":{{"schedulerName":"bench","containers":[{{"name":"main","image":"registry.example.com/shop/main:v1.{2}.0","ports":[{{"containerPort":8080,"protocol":"TCP"}}],"env":[{{"name":"SHOP","value":"{1}"}},{{"name":"LEVEL","value":"info"}}],"resources":{{"limits":{{"cpu":"2","memory":"2Gi"}},"requests":{{"cpu":"500m","memory":"1Gi"}}}},"volumeMounts":[{{"name":"data","mountPath":"/data"}}],"readinessProbe":{{"httpGet":{{"path":"/ready","port":8080}},"periodSeconds":10}}}}],"volumes":[{{"name":"data","emptyDir":{{}}}}],"tolerations":[{{"key":"dedicated","operator":"Exists","effect":"NoSchedule"}}]}}}})",
          benchPodName(index), app, app % 20));
}

Request bindPod(const std::string& ns, int64_t index, int64_t nodes) {
  const std::string name = benchPodName(index);
  const std::string node = benchNodeName(index % std::max<int64_t>(1, nodes));
  Request request = createIn(
      kind::kPod, ns,
      fmt::format(
          R"({{"apiVersion":"v1","kind":"Binding","metadata":{{"name":"{}","namespace":"{}"}},"target":{{"apiVersion":"v1","kind":"Node","name":"{}"}}}})",
          name, ns, node));
  request.ref.name = name;
  request.ref.subresource = "binding";
  return request;
}

Request patchPod(const std::string& ns, int64_t index, std::string_view value) {
  return patchRequest(
      {kind::kPod, ns, benchPodName(index)}, PatchType::kMerge,
      fmt::format(R"({{"metadata":{{"annotations":{{"{}":"{}"}}}}}})", kSentAnnotation, value));
}

Request getPod(const std::string& ns, int64_t index) {
  Request request;
  request.verb = Verb::kGet;
  request.ref = {kind::kPod, ns, benchPodName(index)};
  return request;
}

}  // namespace mangrove::client
