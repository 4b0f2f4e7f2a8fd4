#include "client/bench/pod_text.h"

#include <fmt/format.h>

namespace mangrove::client {

namespace {

// Mixes an index into something that looks random, so that uids and hashes do not compress.
uint64_t mixed(uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

std::string uid(uint64_t seed) {
  uint64_t a = mixed(seed), b = mixed(seed + 1);
  return fmt::format("{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}", a & 0xffffffff, (a >> 32) & 0xffff,
                     (a >> 48) & 0xfff, b & 0xfff, b >> 16);
}

std::string containerStatus(const char* name, uint64_t seed) {
  return fmt::format(
      R"({{"name":"{}","state":{{"running":{{"startedAt":"2026-03-01T08:{:02}:{:02}Z"}}}},"ready":true,"restartCount":{},"image":"registry.example.com/shop/{}:v1.{}.0","imageID":"registry.example.com/shop/{}@sha256:{:016x}{:016x}{:016x}{:016x}","containerID":"containerd://{:016x}{:016x}{:016x}{:016x}","started":true}})",
      name, seed % 60, mixed(seed) % 60, seed % 3, name, seed % 20, name, mixed(seed % 20),
      mixed(seed % 20 + 1), mixed(seed % 20 + 2), mixed(seed % 20 + 3), mixed(seed),
      mixed(seed + 7), mixed(seed + 8), mixed(seed + 9));
}

}  // namespace

std::string podText(int64_t index, uint64_t version) {
  uint64_t n = static_cast<uint64_t>(index);
  uint64_t app = n / 40;  // forty replicas each
  std::string name =
      fmt::format("shop-{:05}-{:08x}-{:05x}", app, mixed(app) & 0xffffffff, mixed(n) & 0xfffff);
  std::string meta = fmt::format(
      R"("metadata":{{"name":"{}","generateName":"shop-{:05}-{:08x}-","namespace":"team-{}","uid":"{}","resourceVersion":"{}","creationTimestamp":"2026-03-01T08:00:{:02}Z","labels":{{"app":"shop-{:05}","pod-template-hash":"{:08x}","tier":"backend","koordinator.sh/qosClass":"LS"}},"annotations":{{"prometheus.io/scrape":"true","prometheus.io/port":"9090","checksum/config":"{:016x}"}},"ownerReferences":[{{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"shop-{:05}-{:08x}","uid":"{}","controller":true,"blockOwnerDeletion":true}}]}})",
      name, app, mixed(app) & 0xffffffff, app % 50, uid(n * 2 + 1), version, n % 60, app,
      mixed(app) & 0xffffffff, mixed(app), app, mixed(app) & 0xffffffff, uid(app + 1000000007));
  std::string spec = fmt::format(
      R"("spec":{{"containers":[{{"name":"main","image":"registry.example.com/shop/main:v1.{}.0","ports":[{{"containerPort":8080,"protocol":"TCP"}}],"env":[{{"name":"SHOP","value":"{}"}},{{"name":"LEVEL","value":"info"}}],"resources":{{"limits":{{"cpu":"2","memory":"2Gi"}},"requests":{{"cpu":"500m","memory":"1Gi"}}}},"volumeMounts":[{{"name":"data","mountPath":"/data"}},{{"name":"kube-api-access","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}}],"readinessProbe":{{"httpGet":{{"path":"/ready","port":8080,"scheme":"HTTP"}},"timeoutSeconds":1,"periodSeconds":10}},"imagePullPolicy":"IfNotPresent"}}],"volumes":[{{"name":"data","emptyDir":{{}}}}],"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","serviceAccountName":"shop","nodeName":"node-{:05}","schedulerName":"koord-scheduler","priority":9000,"priorityClassName":"koord-prod","tolerations":[{{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}}]}})",
      app % 20, app, mixed(n) % 5000);
  uint64_t ip = mixed(n + 5);
  uint64_t host = mixed(n) % 5000;  // the address of the node in the spec
  std::string status = fmt::format(
      R"("status":{{"phase":"Running","conditions":[{{"type":"Ready","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-03-01T08:01:{:02}Z"}},{{"type":"PodScheduled","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-03-01T08:00:{:02}Z"}}],"hostIP":"10.0.{}.{}","podIP":"172.{}.{}.{}","startTime":"2026-03-01T08:00:{:02}Z","containerStatuses":[{}],"qosClass":"Burstable"}})",
      n % 60, n % 59, host >> 8, host & 255, (ip >> 24) & 255, (ip >> 32) & 255, (ip >> 40) & 255,
      n % 60, containerStatus("main", n * 2));
  return "{" + meta + "," + spec + "," + status + "}";
}

}  // namespace mangrove::client
