#include "apiserver/kinds/defaults.h"

#include <gtest/gtest.h>

#include "apiserver/kinds/test_objects.h"

namespace mangrove::apiserver {
namespace {

using namespace fixture;

void expectCompleted(std::string_view in, std::string_view want) {
  json::Value object = completed(in);
  EXPECT_EQ(json::writeSorted(object), json::writeSorted(yaml(want))) << in;
  json::Value again = object;
  applyDefaults(kindOf(object), again);
  EXPECT_EQ(json::writeSorted(again), json::writeSorted(object)) << "defaults twice: " << in;
}

TEST(Defaults, Pod) {
  expectCompleted(R"(
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
  - name: c
    image: web
    ports: [{containerPort: 80}]
    resources: {limits: {cpu: 1}}
    livenessProbe: {httpGet: {port: 80}}
    env: [{name: IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}]
  volumes: [{name: v, configMap: {name: m}}, {name: e}]
)",
                  R"(
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  restartPolicy: Always
  dnsPolicy: ClusterFirst
  terminationGracePeriodSeconds: 30
  schedulerName: default-scheduler
  securityContext: {}
  enableServiceLinks: true
  containers:
  - name: c
    image: web
    imagePullPolicy: Always
    terminationMessagePath: /dev/termination-log
    terminationMessagePolicy: File
    ports: [{containerPort: 80, protocol: TCP}]
    resources: {limits: {cpu: "1"}, requests: {cpu: "1"}}
    livenessProbe:
      httpGet: {port: 80, path: /, scheme: HTTP}
      timeoutSeconds: 1
      periodSeconds: 10
      successThreshold: 1
      failureThreshold: 3
    env: [{name: IP, valueFrom: {fieldRef: {fieldPath: status.podIP, apiVersion: v1}}}]
  volumes: [{name: v, configMap: {name: m, defaultMode: 420}}, {name: e, emptyDir: {}}]
status: {}
)");
}

TEST(Defaults, PullPolicyFollowsTheTag) {
  const std::pair<const char*, const char*> kRows[] = {
      {"web", "Always"},
      {"web:latest", "Always"},
      {"web:1.2", "IfNotPresent"},
      {"host:5000/web", "Always"},
      {"host:5000/web:1", "IfNotPresent"},
      {"web@sha256:abc", "IfNotPresent"},
      {"web:latest@sha256:abc", "Always"},
      {"", "IfNotPresent"},
  };
  for (auto [image, want] : kRows) EXPECT_EQ(pullPolicyFor(image), want) << image;
}

TEST(Defaults, HostNetworkOpensTheSamePorts) {
  json::Value pod = completed(
      "{apiVersion: v1, kind: Pod, spec: {hostNetwork: true, serviceAccount: old, containers: "
      "[{name: a, image: b:1, ports: [{containerPort: 80}]}]}}");
  EXPECT_EQ(json::write(pod.at("spec").at("containers").at(0).at("ports")),
            R"([{"containerPort":80,"hostPort":80,"protocol":"TCP"}])");
  EXPECT_EQ(pod.at("spec").at("serviceAccountName"), json::Value("old"));
}

// The pod inside a template gets its static defaults, but neither requests nor service links.
TEST(Defaults, Deployment) {
  json::Value object = completed(R"(
apiVersion: apps/v1
kind: Deployment
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec: {containers: [{name: c, image: w:1, resources: {limits: {cpu: 1}}}]}
)");
  const json::Value& spec = object.at("spec");
  EXPECT_EQ(
      json::writeSorted(spec.at("strategy")),
      R"({"rollingUpdate":{"maxSurge":"25%","maxUnavailable":"25%"},"type":"RollingUpdate"})");
  EXPECT_EQ(spec.at("replicas"), json::Value(1));
  EXPECT_EQ(spec.at("revisionHistoryLimit"), json::Value(10));
  EXPECT_EQ(spec.at("progressDeadlineSeconds"), json::Value(600));
  const json::Value& pod = spec.at("template").at("spec");
  EXPECT_EQ(pod.at("restartPolicy"), json::Value("Always"));
  EXPECT_FALSE(pod.get_object().contains("enableServiceLinks"));
  EXPECT_EQ(json::write(pod.at("containers").at(0).at("resources")), R"({"limits":{"cpu":"1"}})");
}

struct PartRow {
  const char *in, *path, *want;
};

const json::Value* at(const json::Value& object, std::string_view path) {
  const json::Value* here = &object;
  size_t start = 0;
  while (start <= path.size() && here != nullptr) {
    size_t end = std::min(path.find('.', start), path.size());
    std::string step(path.substr(start, end - start));
    if (here->is_array())
      here = &here->get_array().at(std::stoul(step));
    else
      here = here->is_object() ? here->get_object().if_contains(step) : nullptr;
    start = end + 1;
  }
  return here;
}

constexpr const char* kJob =
    "{apiVersion: batch/v1, kind: Job, spec: {template: {spec: {containers: []}}}}";
constexpr const char* kParallel = "{apiVersion: batch/v1, kind: Job, spec: {parallelism: 3}}";
constexpr const char* kDaemons = "{apiVersion: apps/v1, kind: DaemonSet, spec: {}}";
constexpr const char* kStateful =
    "{apiVersion: apps/v1, kind: StatefulSet, spec: {volumeClaimTemplates: [{metadata: {name: "
    "d}}]}}";
constexpr const char* kService =
    "{apiVersion: v1, kind: Service, spec: {ports: [{port: 80}], sessionAffinity: ClientIP}}";
constexpr const char* kBalancer = "{apiVersion: v1, kind: Service, spec: {type: LoadBalancer}}";
constexpr const char* kHook =
    "{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, webhooks: "
    "[{clientConfig: {service: {name: a}}, rules: [{}]}]}";
constexpr const char* kBinding =
    "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, roleRef: {name: a}, subjects: "
    "[{kind: User, name: x}, {kind: ServiceAccount, name: z}]}";
constexpr const char* kCrd =
    "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {names: {kind: "
    "FooBar}}}";
const PartRow kParts[] = {
    {kJob, "spec.completions", "1"},
    {kJob, "spec.parallelism", "1"},
    {kJob, "spec.backoffLimit", "6"},
    {kJob, "spec.completionMode", "\"NonIndexed\""},
    {kJob, "spec.podReplacementPolicy", "\"TerminatingOrFailed\""},
    {kParallel, "spec.completions", ""},
    {kDaemons, "spec.updateStrategy.rollingUpdate", R"({"maxUnavailable":1,"maxSurge":0})"},
    {kStateful, "spec.podManagementPolicy", "\"OrderedReady\""},
    {kStateful, "spec.updateStrategy.rollingUpdate", R"({"partition":0})"},
    {kStateful, "spec.persistentVolumeClaimRetentionPolicy.whenScaled", "\"Retain\""},
    {kStateful, "spec.volumeClaimTemplates.0.spec.volumeMode", "\"Filesystem\""},
    {kStateful, "spec.volumeClaimTemplates.0.status.phase", "\"Pending\""},
    {kService, "spec.type", "\"ClusterIP\""},
    {kService, "spec.ports.0.targetPort", "80"},
    {kService, "spec.internalTrafficPolicy", "\"Cluster\""},
    {kService, "spec.externalTrafficPolicy", ""},
    {kService, "spec.sessionAffinityConfig.clientIP.timeoutSeconds", "10800"},
    {kBalancer, "spec.externalTrafficPolicy", "\"Cluster\""},
    {kBalancer, "spec.allocateLoadBalancerNodePorts", "true"},
    {"{apiVersion: v1, kind: Secret, stringData: {a: hello}}", "data.a", "\"aGVsbG8=\""},
    {"{apiVersion: v1, kind: Secret, stringData: {a: hello}}", "stringData", ""},
    {"{apiVersion: v1, kind: Secret}", "type", "\"Opaque\""},
    {"{apiVersion: v1, kind: Namespace, metadata: {name: a}}", "metadata.labels",
     R"({"kubernetes.io/metadata.name":"a"})"},
    {"{apiVersion: v1, kind: Node, status: {capacity: {cpu: 4}}}", "status.allocatable",
     R"({"cpu":"4"})"},
    {"{apiVersion: v1, kind: PersistentVolumeClaim, spec: {}}", "spec.volumeMode",
     "\"Filesystem\""},
    {"{apiVersion: batch/v1, kind: CronJob, spec: {jobTemplate: {spec: {template: {spec: "
     "{containers: []}}}}}}",
     "spec.jobTemplate.spec.template.spec.restartPolicy", "\"Always\""},
    {"{apiVersion: batch/v1, kind: CronJob, spec: {jobTemplate: {spec: {}}}}",
     "spec.jobTemplate.spec.backoffLimit", ""},
    {"{apiVersion: batch/v1, kind: CronJob, spec: {}}", "spec.concurrencyPolicy", "\"Allow\""},
    {kHook, "webhooks.0.matchPolicy", "\"Equivalent\""},
    {kHook, "webhooks.0.timeoutSeconds", "10"},
    {kHook, "webhooks.0.reinvocationPolicy", "\"Never\""},
    {kHook, "webhooks.0.failurePolicy", "\"Fail\""},
    {kHook, "webhooks.0.rules.0.scope", "\"*\""},
    {kHook, "webhooks.0.clientConfig.service.port", "443"},
    {kBinding, "subjects.0.apiGroup", "\"rbac.authorization.k8s.io\""},
    {kBinding, "subjects.1.apiGroup", ""},
    {kBinding, "roleRef.apiGroup", "\"rbac.authorization.k8s.io\""},
    {"{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, roleRef: {apiGroup: '', name: "
     "a}}",
     "roleRef.apiGroup", "\"rbac.authorization.k8s.io\""},
    {kCrd, "spec.names.singular", "\"foobar\""},
    {kCrd, "spec.names.listKind", "\"FooBarList\""},
    {kCrd, "spec.conversion.strategy", "\"None\""},
    {"{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, spec: {maxReplicas: 3}}",
     "spec.metrics.0.resource.target.averageUtilization", "80"},
    {"{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass}", "preemptionPolicy",
     "\"PreemptLowerPriority\""},
    {"{apiVersion: storage.k8s.io/v1, kind: StorageClass}", "volumeBindingMode", "\"Immediate\""},
    {"{apiVersion: v1, kind: ReplicationController, spec: {template: {metadata: {labels: {a: "
     "b}}}}}",
     "spec.selector.a", "\"b\""},
    {"{apiVersion: v1, kind: LimitRange, spec: {limits: [{type: Container, max: {cpu: 2}}]}}",
     "spec.limits.0.defaultRequest.cpu", "\"2\""},
    {"{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, spec: {egress: [{}]}}",
     "spec.policyTypes", R"(["Ingress","Egress"])"},
};

TEST(Defaults, OtherKinds) {
  for (const PartRow& row : kParts) {
    json::Value object = completed(row.in);
    const json::Value* found = at(object, row.path);
    EXPECT_EQ(found == nullptr ? "" : json::write(*found), row.want) << row.in << " " << row.path;
  }
}

TEST(Defaults, NewObjectsStartWithTheirFirstStatus) {
  json::Value ns = completed("{apiVersion: v1, kind: Namespace, metadata: {name: a}}");
  onCreate(kindOf(ns), ns);
  EXPECT_EQ(json::write(ns.at("spec")), R"({"finalizers":["kubernetes"]})");
  EXPECT_EQ(json::write(ns.at("status")), R"({"phase":"Active"})");

  json::Value pod = completed("{apiVersion: v1, kind: Pod, status: {phase: Running}, spec: {}}");
  onCreate(kindOf(pod), pod);
  EXPECT_EQ(json::write(pod.at("status")), R"({"phase":"Pending"})");

  json::Value node = completed("{apiVersion: v1, kind: Node, status: {capacity: {cpu: 1}}}");
  onCreate(kindOf(node), node);
  EXPECT_TRUE(node.get_object().contains("status"));

  json::Value set = completed("{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: a}}");
  onCreate(kindOf(set), set);
  EXPECT_EQ(json::write(set.at("status")), R"({"replicas":0})");

  json::Value job = completed(
      "{apiVersion: batch/v1, kind: Job, metadata: {name: j, uid: u1}, spec: {template: {}}}");
  onCreate(kindOf(job), job);
  EXPECT_EQ(json::write(job.at("spec").at("selector")),
            R"({"matchLabels":{"batch.kubernetes.io/controller-uid":"u1"}})");
  EXPECT_EQ(job.at("spec").at("template").at("metadata").at("labels").at("job-name"),
            json::Value("j"));
}

}  // namespace
}  // namespace mangrove::apiserver
