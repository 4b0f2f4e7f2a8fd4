#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/kinds/test_objects.h"

namespace mangrove::apiserver {
namespace {

using namespace fixture;

void expectCreates(std::string_view base, std::initializer_list<Row> rows) {
  EXPECT_EQ(createErrors(base), "") << base;
  expectRows(base, {rows.begin(), rows.size()});
}

void expectUpdates(std::string_view base, std::initializer_list<Row> rows) {
  for (const Row& row : rows) {
    json::Value old = completed(base);
    json::Value now = old;
    put(now, row.path, row.value);
    expectSays(validateUpdate(kindOf(old), now, old), row);
  }
}

constexpr const char* kDeployment = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: w:1}]}
)";

TEST(ValidateKinds, Deployment) {
  expectCreates(
      kDeployment,
      {
          {"spec.replicas", "-1",
           "spec.replicas: Invalid value: -1: must be greater than or equal to 0"},
          {"spec.selector", "<none>", "spec.selector: Required value"},
          {"spec.selector", "{}", "empty selector is invalid"},
          {"spec.selector", "{matchLabels: {app: x}}",
           "spec.template.metadata.labels: Invalid value: {\"app\":\"web\"}: `selector` does not "
           "match "
           "template `labels`"},
          {"spec.selector", "{matchExpressions: [{key: app, operator: In, values: [web, api]}]}",
           ""},
          {"spec.selector", "{matchExpressions: [{key: app, operator: Is}]}",
           "not a valid selector operator"},
          {"spec.selector", "{matchExpressions: [{key: app, operator: In}]}",
           "matchExpressions[0].values: Required value"},
          {"spec.template.spec.containers", "[]", "spec.template.spec.containers: Required value"},
          {"spec.template.spec.restartPolicy", "Never",
           "spec.template.spec.restartPolicy: Unsupported value: \"Never\": supported values: "
           "\"Always\""},
          {"spec.strategy", "{type: Recreate}", ""},
          {"spec.strategy", "{type: Recreate, rollingUpdate: {maxSurge: 1}}",
           "may not be specified when"},
          {"spec.strategy", "{type: Sudden}", "spec.strategy.type: Unsupported value: \"Sudden\""},
          {"spec.strategy", "{rollingUpdate: {maxSurge: 0, maxUnavailable: 0}}",
           "may not be 0 when `maxSurge` is 0"},
          {"spec.strategy", "{rollingUpdate: {maxUnavailable: 200%}}",
           "must not be greater than 100%"},
          {"spec.strategy", "{rollingUpdate: {maxUnavailable: half}}", "a valid percent string"},
          {"spec.progressDeadlineSeconds", "0", "must be greater than minReadySeconds"},
      });
  expectUpdates(kDeployment, {
                                 {"spec.replicas", "5", ""},
                                 {"spec.selector.matchLabels", "{app: web, x: y}",
                                  "spec.selector: Invalid value"},
                             });
}

TEST(ValidateKinds, OtherWorkloads) {
  constexpr const char* kSet = R"(
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: default}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: c, image: w:1}]}}
)";
  expectCreates(kSet,
                {{"spec.template.spec.containers[0].volumeMounts", "[{name: data, mountPath: /d}]",
                  "volumeMounts[0].name: Not found: \"data\""}});
  constexpr const char* kKeeping = R"(
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: default}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: c, image: w:1, volumeMounts: [{name: data, mountPath: /d}]}]}}
  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]
)";
  expectCreates(kKeeping, {{"spec.replicas", "3", ""}});
  expectUpdates(kSet, {{"spec.replicas", "3", ""},
                       {"spec.serviceName", "x", "updates to statefulset spec for fields other"}});
  constexpr const char* kDaemons = R"(
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: default}
spec:
  selector: {matchLabels: {app: a}}
  template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: w:1}]}}
)";
  expectCreates(kDaemons, {{"spec.updateStrategy", "{type: OnDelete}", ""},
                           {"spec.updateStrategy", "{type: X}", "Unsupported value"}});
  constexpr const char* kController = R"(
apiVersion: v1
kind: ReplicationController
metadata: {name: a, namespace: default}
spec: {template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: w:1}]}}}
)";
  expectCreates(kController, {{"spec.selector", "{app: b}", "`selector` does not match"}});
}

TEST(ValidateKinds, Jobs) {
  constexpr const char* kJob = R"(
apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: default}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: w:1}]}}}
)";
  expectCreates(kJob, {
                          {"spec.template.spec.restartPolicy", "<none>",
                           "spec.template.spec.restartPolicy: Required value: valid values: "
                           "\"OnFailure\", \"Never\""},
                          {"spec.backoffLimit", "-1", "spec.backoffLimit: Invalid value"},
                          {"spec.completionMode", "Indexed", ""},
                          {"spec.parallelism", "2", ""},
                      });
  expectUpdates(
      kJob, {
                {"spec.suspend", "true", ""},
                {"spec.parallelism", "5", ""},
                {"spec.completions", "7", "spec.completions: Invalid value: 7: field is immutable"},
                {"spec.template.spec.containers[0].image", "x", "spec.template: Invalid value"},
            });
  constexpr const char* kCron = R"(
apiVersion: batch/v1
kind: CronJob
metadata: {name: c, namespace: default}
spec:
  schedule: "*/5 * * * *"
  jobTemplate: {spec: {template: {spec: {restartPolicy: OnFailure, containers: [{name: c, image: w:1}]}}}}
)";
  expectCreates(kCron,
                {
                    {"spec.schedule", "'0 0 * * mon-fri'", ""},
                    {"spec.schedule", "'@daily'", ""},
                    {"spec.schedule", "'0 25 * * *'", "spec.schedule: Invalid value"},
                    {"spec.schedule", "'* * *'", "want five fields"},
                    {"spec.schedule", "<none>", "spec.schedule: Required value"},
                    {"spec.concurrencyPolicy", "Maybe", "Unsupported value: \"Maybe\""},
                    {"metadata.name", "a123456789-123456789-123456789-123456789-123456789-123",
                     "no more than 52"},
                });
}

TEST(ValidateKinds, Service) {
  constexpr const char* kService = R"(
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {selector: {app: web}, clusterIP: 10.0.0.1, ports: [{port: 80}]}
)";
  expectCreates(
      kService,
      {
          {"metadata.name", "1web", "a DNS-1035 label"},
          {"spec.ports", "[]", "spec.ports: Required value"},
          {"spec.ports", "[{port: 0}]", "spec.ports[0].port"},
          {"spec.ports", "[{port: 80}, {port: 81}]", "spec.ports[0].name: Required value"},
          {"spec.ports", "[{name: a, port: 80}, {name: a, port: 81}]",
           "spec.ports[1].name: Duplicate"},
          {"spec.ports", "[{name: a, port: 80}, {name: b, port: 80}]",
           "spec.ports[1]: Duplicate value"},
          {"spec.ports", "[{name: a, port: 80}, {name: b, port: 80, protocol: UDP}]", ""},
          {"spec.ports", "[{port: 80, nodePort: 30000}]",
           "may not be used when `type` is 'ClusterIP'"},
          {"spec.ports", "[{port: 80, targetPort: 99999}]", "targetPort: Invalid value"},
          {"spec.type", "NodePort", ""},
          {"spec.type", "Weird", "spec.type: Unsupported value: \"Weird\""},
          {"spec.type", "ExternalName", "spec.externalName: Required value"},
          {"spec.clusterIP", "None", ""},
          {"spec.clusterIP", "nowhere", "spec.clusterIP: Invalid value"},
          {"spec.sessionAffinity", "Sticky", "Unsupported value"},
      });
  expectUpdates(kService, {{"spec.clusterIP", "10.0.0.2", "field is immutable"},
                           {"spec.selector", "{app: x}", ""}});
}

TEST(ValidateKinds, ServicesKeepTheAddressesTheyWereGiven) {
  json::Value old = completed(
      "{apiVersion: v1, kind: Service, spec: {type: NodePort, clusterIP: 10.0.0.1, ports: [{port: "
      "80, nodePort: 30001}]}}");
  json::Value now =
      yaml("{apiVersion: v1, kind: Service, spec: {type: NodePort, ports: [{port: 80}]}}");
  onUpdate(kindOf(old), now, old);
  EXPECT_EQ(now.at("spec").at("clusterIP"), json::Value("10.0.0.1"));
  EXPECT_EQ(now.at("spec").at("ports").at(0).at("nodePort"), json::Value(30001));
  now = yaml("{apiVersion: v1, kind: Service, spec: {type: ExternalName, clusterIP: 10.0.0.1}}");
  onUpdate(kindOf(old), now, old);
  EXPECT_FALSE(now.at("spec").get_object().contains("clusterIP"));
}

TEST(ValidateKinds, ConfigMapsAndSecrets) {
  constexpr const char* kMap =
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: "
      "d}, immutable: true, data: {a: b}}";
  expectCreates(kMap, {
                          {"data", "{'a b': c}", "data[a b]: Invalid value"},
                          {"data", "{..a: c}", "data[..a]: Invalid value"},
                          {"binaryData", "{a: aGVsbG8=}", "duplicate of key present"},
                      });
  expectUpdates(kMap, {{"data", "{a: c}", "data: Forbidden: field is immutable when `immutable`"},
                       {"immutable", "<none>", "immutable: Forbidden"},
                       {"metadata.labels", "{a: b}", ""}});
  constexpr const char* kSecret =
      "{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: "
      "d}, data: {a: aGVsbG8=}}";
  expectCreates(
      kSecret,
      {
          {"type", "kubernetes.io/tls", "data[tls.crt]: Required value"},
          {"type", "kubernetes.io/dockerconfigjson", "data[.dockerconfigjson]: Required value"},
          {"type", "kubernetes.io/service-account-token", "service-account.name"},
          {"type", "example.com/own", ""},
      });
  expectUpdates(kSecret, {{"type", "x", "type: Invalid value: \"x\": field is immutable"},
                          {"data", "{b: YQ==}", ""}});
}

TEST(ValidateKinds, Storage) {
  constexpr const char* kClaim = R"(
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: a, namespace: d}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
status: {phase: Bound}
)";
  expectCreates(
      kClaim,
      {
          {"spec.accessModes", "[]", "spec.accessModes: Required value: at least 1 access mode"},
          {"spec.accessModes", "[Anyhow]", "spec.accessModes[0]: Unsupported value: \"Anyhow\""},
          {"spec.resources", "{}", "spec.resources[storage]: Required value"},
          {"spec.resources", "{requests: {storage: 0}}", "must be greater than zero"},
      });
  expectUpdates(kClaim, {
                            {"spec.resources.requests", "{storage: 2Gi}", ""},
                            {"spec.resources.requests", "{storage: 1Mi}",
                             "field can not be less than previous value"},
                            {"spec.accessModes", "[ReadWriteMany]",
                             "spec: Forbidden: spec is immutable after creation"},
                            {"spec.volumeName", "pv1", ""},
                        });
  constexpr const char* kVolume = R"(
apiVersion: v1
kind: PersistentVolume
metadata: {name: a}
spec: {accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, hostPath: {path: /a}}
)";
  expectCreates(
      kVolume, {
                   {"spec.hostPath", "<none>", "spec: Required value: must specify a volume type"},
                   {"spec.nfs", "{server: a, path: /b}", "may not specify more than 1 volume type"},
                   {"spec.capacity", "{}", "spec.capacity: Required value"},
                   {"metadata.namespace", "x", ""},
               });
  expectUpdates(kVolume, {{"spec.hostPath.path", "/b", "is immutable after creation"}});
  constexpr const char* kClass =
      "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: a}, provisioner: x/y}";
  expectCreates(kClass, {{"provisioner", "<none>", "provisioner: Required value"}});
  expectUpdates(kClass, {{"provisioner", "z/y", "updates to provisioner are forbidden."},
                         {"reclaimPolicy", "Retain", "updates to reclaimPolicy are forbidden."},
                         {"allowVolumeExpansion", "true", ""}});
}

TEST(ValidateKinds, PolicyAndScheduling) {
  constexpr const char* kBudget =
      "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a, namespace: d}, spec: "
      "{minAvailable: 1, selector: {matchLabels: {a: b}}}}";
  expectCreates(kBudget, {
                             {"spec.maxUnavailable", "1",
                              "minAvailable and maxUnavailable cannot be both set"},
                             {"spec.minAvailable", "-1", "spec.minAvailable: Invalid value: -1"},
                             {"spec.minAvailable", "50%", ""},
                             {"spec.minAvailable", "150%", "must not be greater than 100%"},
                             {"spec.minAvailable", "'5'", "a valid percent string"},
                             {"spec.unhealthyPodEvictionPolicy", "Nope", "Unsupported value"},
                         });
  constexpr const char* kClass =
      "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: a}, value: 5}";
  expectCreates(kClass, {
                            {"value", "1000000000", ""},
                            {"value", "1000000001",
                             "value: Forbidden: maximum allowed value of a user defined priority"},
                            {"metadata.name", "system-mine", "are reserved for system use"},
                            {"preemptionPolicy", "Maybe", "Unsupported value"},
                        });
  expectUpdates(kClass,
                {{"value", "6", "may not be changed in an update."}, {"description", "x", ""}});
  constexpr const char* kScaler =
      "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: a, namespace: "
      "d}, spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: "
      "web}}}";
  expectCreates(kScaler,
                {{"spec.maxReplicas", "<none>", "spec.maxReplicas: Invalid value: 0"},
                 {"spec.minReplicas", "9", "must be greater than or equal to `minReplicas`"},
                 {"spec.scaleTargetRef", "{}", "spec.scaleTargetRef.kind: Required value"}});
}

TEST(ValidateKinds, Access) {
  constexpr const char* kRole =
      "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: 'system:a', "
      "namespace: d}, rules: [{verbs: [get], apiGroups: [''], resources: [pods]}]}";
  expectCreates(
      kRole,
      {
          {"rules", "[{apiGroups: [''], resources: [pods]}]", "rules[0].verbs: Required value"},
          {"rules", "[{verbs: [get], resources: [pods]}]", "must supply at least one api group"},
          {"rules", "[{verbs: [get], apiGroups: ['']}]", "must supply at least one resource"},
          {"rules", "[{verbs: [get], nonResourceURLs: [/a]}]", "namespaced rules cannot apply"},
          {"metadata.name", "a/b", "may not contain '/'"},
      });
  constexpr const char* kBinding =
      "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: a, "
      "namespace: d}, roleRef: {kind: Role, name: r}, subjects: [{kind: User, name: u}]}";
  expectCreates(kBinding,
                {
                    {"roleRef", "{kind: Rule, name: r}",
                     "roleRef.kind: Unsupported value: \"Rule\": supported values: \"Role\", "
                     "\"ClusterRole\""},
                    {"roleRef", "{kind: Role}", "roleRef.name: Required value"},
                    {"subjects", "[{kind: Robot, name: u}]", "subjects[0].kind: Unsupported value"},
                    {"subjects", "[{kind: ServiceAccount, name: u, namespace: ''}]", ""},
                    {"subjects", "[{kind: User}]", "subjects[0].name: Required value"},
                });
  expectUpdates(kBinding, {{"roleRef.name", "x", "cannot change roleRef"}, {"subjects", "[]", ""}});
}

TEST(ValidateKinds, Webhooks) {
  constexpr const char* kHooks = R"(
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: a}
webhooks:
- name: a.b.c
  sideEffects: None
  admissionReviewVersions: [v1]
  clientConfig: {service: {name: s, namespace: ns, path: /x}}
  rules: [{operations: [CREATE], apiGroups: [''], apiVersions: [v1], resources: [pods]}]
)";
  expectCreates(
      kHooks,
      {
          {"webhooks[0].name", "short", "at least three segments"},
          {"webhooks[0].clientConfig", "{}", "exactly one of url or service is required"},
          {"webhooks[0].clientConfig", "{url: 'http://a/b'}",
           "'https' is the only allowed URL scheme"},
          {"webhooks[0].sideEffects", "<none>", "webhooks[0].sideEffects: Required value"},
          {"webhooks[0].sideEffects", "Some", "Unsupported value: \"Some\""},
          {"webhooks[0].admissionReviewVersions", "[v2]", "must include v1"},
          {"webhooks[0].timeoutSeconds", "31", "must be between 1 and 30"},
          {"webhooks[0].rules", "[{operations: [CREATE]}]", "rules[0].apiGroups: Required value"},
          {"webhooks[0].failurePolicy", "Shrug", "Unsupported value"},
          {"webhooks[0].rules",
           "[{operations: [PEEK], apiGroups: [''], apiVersions: [v1], resources: "
           "[a]}]",
           "rules[0].operations[0]: Unsupported value: \"PEEK\""},
      });
}

TEST(ValidateKinds, ClusterFurniture) {
  expectCreates(
      "{apiVersion: v1, kind: Node, metadata: {name: node}, spec: {taints: [{key: a, "
      "effect: NoSchedule}]}}",
      {{"spec.taints", "[{key: a}]", "spec.taints[0].effect: Required value"},
       {"spec.taints", "[{key: a, effect: Never}]", "Unsupported value: \"Never\""},
       {"spec.taints", "[{key: a, effect: NoSchedule}, {key: a, effect: NoSchedule}]",
        "spec.taints[1]: Duplicate value"},
       {"spec.podCIDR", "here", "must be a valid CIDR block"}});
  expectUpdates(
      "{apiVersion: v1, kind: Node, metadata: {name: node}, spec: {podCIDR: 10.0.0.0/24}}",
      {{"spec.podCIDR", "10.0.1.0/24", "spec.podCIDR: Forbidden"},
       {"spec.unschedulable", "true", ""}});
  expectCreates("{apiVersion: v1, kind: Namespace, metadata: {name: a}}",
                {{"metadata.name", "a.b", "a lowercase RFC 1123 label"}});
  expectCreates(
      "{apiVersion: v1, kind: Event, metadata: {name: a, namespace: d}, involvedObject: "
      "{namespace: d}}",
      {{"involvedObject.namespace", "x", "does not match event.namespace"}});
  expectCreates(
      "{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: a, namespace: "
      "d}, spec: {leaseDurationSeconds: 15}}",
      {{"spec.leaseDurationSeconds", "0", "must be greater than 0"},
       {"spec.leaseTransitions", "-1", "greater than or equal to 0"}});
  expectCreates(
      "{apiVersion: v1, kind: LimitRange, metadata: {name: a, namespace: d}, spec: "
      "{limits: [{type: Container, max: {cpu: 2}, min: {cpu: 1}}]}}",
      {{"spec.limits[0].min", "{cpu: 3}", "min value 3 is greater than max value 2"}});
  expectCreates(
      "{apiVersion: v1, kind: ResourceQuota, metadata: {name: a, namespace: d}, spec: "
      "{hard: {pods: 5}}}",
      {{"spec.hard", "{pods: -5}", "spec.hard[pods]: Invalid value"}});
  expectCreates("{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: a}, handler: b}",
                {{"handler", "<none>", "handler: Required value"}});
  expectCreates(
      "{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: a, "
      "namespace: d}, addressType: IPv4, endpoints: [{addresses: [10.0.0.1]}]}",
      {{"addressType", "<none>", "addressType: Required value"},
       {"endpoints", "[{addresses: [127.0.0.1]}]", "loopback range"},
       {"endpoints", "[{addresses: [169.254.169.254]}]", "link-local range"},
       {"endpoints", "[{addresses: [0.0.0.0]}]", "unspecified"},
       {"endpoints", "[{addresses: [x]}]", "endpoints[0].addresses[0]: Invalid value"}});
  expectCreates(
      "{apiVersion: v1, kind: Endpoints, metadata: {name: a, namespace: d}, subsets: [{addresses: "
      "[{ip: 10.0.0.1}], ports: [{port: 80}]}]}",
      {{"subsets[0].addresses[0].ip", "127.9.0.1", "loopback range"},
       {"subsets[0].addresses[0].ip", "'::1'", "loopback range"},
       {"subsets[0].addresses[0].ip", "'::ffff:127.0.0.1'", "loopback range"},
       {"subsets[0].addresses[0].ip", "'fe80::1'", "link-local range"}});
  expectCreates(
      "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: a, namespace: "
      "d}, spec: {rules: [{http: {paths: [{path: /, pathType: Prefix, backend: {service: "
      "{name: a, port: {number: 80}}}}]}}]}}",
      {{"spec.rules", "[]", "either `defaultBackend` or `rules` must be specified"}});
  expectCreates(
      "{apiVersion: networking.k8s.io/v1, kind: IPAddress, metadata: {name: 10.0.0.1}, spec: "
      "{parentRef: {resource: services, name: a}}}",
      {{"metadata.name", "a", "metadata.name: Invalid value"},
       {"spec.parentRef", "<none>", "spec.parentRef: Required value"},
       {"spec.parentRef.name", "<none>", "spec.parentRef.name: Required value"}});
  expectCreates(
      "{apiVersion: networking.k8s.io/v1, kind: ServiceCIDR, metadata: {name: a}, spec: {cidrs: "
      "[10.0.0.0/24]}}",
      {{"spec.cidrs", "<none>", "spec.cidrs: Required value"},
       {"spec.cidrs", "[x]", "spec.cidrs[0]: Invalid value"}});
}

}  // namespace
}  // namespace mangrove::apiserver
