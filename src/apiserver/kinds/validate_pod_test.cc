#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/kinds/test_objects.h"
#include "apiserver/kinds/validators.h"

namespace mangrove::apiserver {
namespace {

using namespace fixture;

using ::testing::HasSubstr;

constexpr const char* kPod = R"(
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: default}
spec:
  containers:
  - name: main
    image: web:1
    ports: [{name: http, containerPort: 80}]
    resources: {requests: {cpu: 1}, limits: {cpu: 2}}
    volumeMounts: [{name: data, mountPath: /data}]
  - {name: side, image: side:1}
  volumes: [{name: data, emptyDir: {}}]
)";

TEST(ValidatePod, Basics) {
  const Row kRows[] = {
      {"metadata.labels", "{a: b}", ""},
      {"metadata.name", "<none>",
       "metadata.name: Required value: name or generateName is required"},
      {"metadata.name", "Web", "metadata.name: Invalid value: \"Web\": a lowercase RFC 1123"},
      {"metadata.name",
       "'"
       "a/b"
       "'",
       "metadata.name: Invalid value"},
      {"metadata.generateName", "web-", ""},
      {"metadata.generateName", "Web-", "metadata.generateName: Invalid value"},
      {"metadata.namespace", "<none>", "metadata.namespace: Required value"},
      {"metadata.namespace", "a.b", "metadata.namespace: Invalid value"},
      {"metadata.labels", "{'a b': c}", "metadata.labels: Invalid value: \"a b\""},
      {"metadata.labels", "{a: 'b c'}", "metadata.labels: Invalid value: \"b c\""},
      {"metadata.annotations", "{'a b': c}", "metadata.annotations: Invalid value: \"a b\""},
      {"metadata.finalizers", "['x y']", "metadata.finalizers[0]: Invalid value"},
      {"metadata.finalizers", "[example.com/x, orphan]", ""},
      {"metadata.ownerReferences", "[{apiVersion: v1, kind: A, name: a}]",
       "metadata.ownerReferences[0].uid: Invalid value: \"\": uid must not be empty"},
      {"metadata.ownerReferences",
       "[{apiVersion: v1, kind: A, name: a, uid: '1', controller: true}, {apiVersion: v1, kind: A, "
       "name: b, uid: '2', controller: true}]",
       "only one reference can have controller set to true"},
      {"spec.containers", "[]", "spec.containers: Required value"},
      {"spec.containers", "<none>", "spec.containers: Required value"},
      {"spec.restartPolicy", "Sometimes",
       "spec.restartPolicy: Unsupported value: \"Sometimes\": supported values: \"Always\", "
       "\"Never\", \"OnFailure\""},
      {"spec.restartPolicy", "Never", ""},
      {"spec.activeDeadlineSeconds", "0", "spec.activeDeadlineSeconds: Invalid value: 0"},
      {"spec.terminationGracePeriodSeconds", "-1", ""},
      {"spec.nodeName", "N_1", "spec.nodeName: Invalid value"},
      {"spec.hostname", "a.b", "spec.hostname: Invalid value"},
      {"spec.schedulingGates", "[{name: a}, {name: a}]", "spec.schedulingGates[1]: Duplicate"},
      {"spec.dnsPolicy", "None", "spec.dnsConfig: Required value"},
      {"spec.hostAliases", "[{ip: x}]", "spec.hostAliases[0].ip: Invalid value"},
  };
  expectRows(kPod, kRows);
}

TEST(ValidatePod, Containers) {
  const Row kRows[] = {
      {"spec.containers[0].name", "<none>", "spec.containers[0].name: Required value"},
      {"spec.containers[0].name", "a_b", "spec.containers[0].name: Invalid value: \"a_b\""},
      {"spec.containers[1].name", "main", "spec.containers[1].name: Duplicate value: \"main\""},
      {"spec.initContainers", "[{name: main, image: a}]",
       "spec.initContainers[0].name: Duplicate value"},
      {"spec.initContainers", "[{name: i, image: a, readinessProbe: {exec: {command: [a]}}}]",
       "spec.initContainers[0].readinessProbe: Forbidden"},
      {"spec.initContainers",
       "[{name: i, image: a, restartPolicy: Always, readinessProbe: {exec: {command: [a]}}}]", ""},
      {"spec.containers[0].image", "<none>", "spec.containers[0].image: Required value"},
      {"spec.containers[0].image", "'web '", "must not have leading or trailing whitespace"},
      {"spec.containers[0].imagePullPolicy", "Often", "Unsupported value: \"Often\""},
      {"spec.containers[0].ports", "[{containerPort: 70000}]",
       "ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive"},
      {"spec.containers[0].ports", "[{name: http}]", "ports[0].containerPort: Required value"},
      {"spec.containers[0].ports", "[{name: Http!, containerPort: 1}]", "ports[0].name: Invalid"},
      {"spec.containers[0].ports", "[{name: a, containerPort: 1}, {name: a, containerPort: 2}]",
       "ports[1].name: Duplicate value: \"a\""},
      {"spec.containers[0].ports",
       "[{containerPort: 1, hostPort: 5}, {containerPort: 2, hostPort: "
       "5}]",
       "ports[1].hostPort: Duplicate value: 5"},
      {"spec.containers[0].ports", "[{containerPort: 1, protocol: FOO}]",
       "ports[0].protocol: Unsupported value: \"FOO\""},
      {"spec.containers[0].env", "[{value: a}]", "env[0].name: Required value"},
      {"spec.containers[0].env", "[{name: 'a=b'}]", "env[0].name: Invalid value"},
      {"spec.containers[0].env", "[{name: a, valueFrom: {}}]", "must specify one of"},
      {"spec.containers[0].env",
       "[{name: a, value: b, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]",
       "may not be specified when `value` is not empty"},
      {"spec.containers[0].env", "[{name: a, valueFrom: {secretKeyRef: {name: s}}}]",
       "env[0].valueFrom.secretKeyRef.key: Required value"},
      {"spec.containers[0].volumeMounts", "[{name: lost, mountPath: /a}]",
       "volumeMounts[0].name: Not found: \"lost\""},
      {"spec.containers[0].volumeMounts",
       "[{name: data, mountPath: /a}, {name: data, mountPath: /a}]",
       "volumeMounts[1].mountPath: Invalid value: \"/a\": must be unique"},
      {"spec.containers[0].volumeMounts", "[{name: data, mountPath: /a, subPath: ../b}]",
       "subPath: Invalid value: \"../b\": must not contain '..'"},
      {"spec.containers[0].livenessProbe", "{}", "livenessProbe: Required value: must specify a"},
      {"spec.containers[0].livenessProbe", "{tcpSocket: {port: 1}, successThreshold: 2}",
       "livenessProbe.successThreshold: Invalid value: 2: must be 1"},
      {"spec.containers[0].readinessProbe", "{tcpSocket: {port: http}, successThreshold: 2}", ""},
      {"spec.containers[0].readinessProbe", "{tcpSocket: {port: 1}, exec: {command: [a]}}",
       "may not specify more than 1 handler type"},
      {"spec.securityContext", "{sysctls: [{name: kernel.shm_rmid_forced, value: '1'}]}", ""},
      {"spec.securityContext", "{sysctls: [{name: foo-, value: a}]}", "Invalid value: \"foo-\""},
      {"spec.securityContext", "{sysctls: [{name: bar.., value: a}]}", "Invalid value: \"bar..\""},
      {"spec.securityContext", "{sysctls: [{name: a, value: a}, {name: a, value: b}]}",
       "Duplicate value: \"a\""},
      {"spec.containers[0].securityContext", "{privileged: true, allowPrivilegeEscalation: false}",
       "cannot set `allowPrivilegeEscalation` to false"},
  };
  expectRows(kPod, kRows);
}

TEST(ValidatePod, Resources) {
  const Row kRows[] = {
      {"spec.containers[0].resources", "{requests: {cpu: 3}, limits: {cpu: 2}}",
       "spec.containers[0].resources.requests: Invalid value: \"3\": must be less than or equal to "
       "cpu limit of 2"},
      {"spec.containers[0].resources", "{requests: {cpu: -1}}",
       "resources.requests[cpu]: Invalid value: \"-1\": must be greater than or equal to 0"},
      {"spec.containers[0].resources", "{limits: {example.com/gpu: 1}}", ""},
      {"spec.containers[0].resources", "{limits: {example.com/gpu: 1500m}}", "must be an integer"},
      {"spec.containers[0].resources", "{requests: {example.com/gpu: 1}}",
       "Limit must be set for non overcommitable resources"},
      {"spec.containers[0].resources",
       "{requests: {example.com/gpu: 1}, limits: {example.com/gpu: 2}}",
       "must be equal to example.com/gpu limit of 2"},
      {"spec.containers[0].resources", "{requests: {kubernetes.io/batch-cpu: 500}}", ""},
      {"spec.overhead", "{cpu: -1}", "spec.overhead[cpu]: Invalid value"},
  };
  expectRows(kPod, kRows);
}

TEST(ValidatePod, VolumesAndPlacement) {
  const Row kRows[] = {
      {"spec.volumes", "[{name: data, emptyDir: {}}, {name: data, emptyDir: {}}]",
       "spec.volumes[1].name: Duplicate value"},
      {"spec.volumes", "[{name: data, emptyDir: {}, hostPath: {path: /a}}]",
       "spec.volumes[0]: Forbidden: may not specify more than 1 volume type"},
      {"spec.volumes", "[{name: data, hostPath: {}}]", "volumes[0].hostPath.path: Required value"},
      {"spec.volumes", "[{name: data, hostPath: {path: /a/../b}}]", "must not contain '..'"},
      {"spec.volumes", "[{name: data, configMap: {}}]", "configMap.name: Required value"},
      {"spec.volumes", "[{name: data, secret: {secretName: s, defaultMode: 1000}}]",
       "defaultMode: Invalid value: 1000: must be between 0 and 511"},
      {"spec.nodeSelector", "{a: 'b c'}", "spec.nodeSelector: Invalid value"},
      {"spec.tolerations", "[{operator: Equal, value: a}]", "operator must be Exists when `key`"},
      {"spec.tolerations", "[{operator: Exists}]", ""},
      {"spec.tolerations", "[{key: a, operator: Exists, value: b}]", "value must be empty"},
      {"spec.tolerations", "[{key: a, operator: Exists, effect: NoSchedule, tolerationSeconds: 1}]",
       "effect must be 'NoExecute'"},
      {"spec.tolerations", "[{key: a, effect: Sometimes}]", "Unsupported value: \"Sometimes\""},
      {"spec.affinity",
       "{nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}",
       "must have at least one node selector term"},
      {"spec.affinity",
       "{nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 200, "
       "preference: {}}]}}",
       "weight: Invalid value: 200"},
      {"spec.affinity",
       "{podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {}}]}}",
       "topologyKey: Required value: can not be empty"},
      {"spec.topologySpreadConstraints",
       "[{maxSkew: 0, topologyKey: a, whenUnsatisfiable: "
       "DoNotSchedule}]",
       "maxSkew: Invalid value: 0: must be greater than zero"},
      {"spec.topologySpreadConstraints",
       "[{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule}, {maxSkew: 2, topologyKey: "
       "a, whenUnsatisfiable: DoNotSchedule}]",
       "topologySpreadConstraints[1]: Duplicate value"},
  };
  expectRows(kPod, kRows);
}

std::string updateErrors(std::string_view base, std::string_view path, std::string_view value,
                         ValidateUpdate* through = nullptr) {
  json::Value old = completed(base);
  json::Value now = old;
  put(now, path, value);
  FieldErrors errors;
  if (through != nullptr)
    through(now.get_object(), old.get_object(), errors);
  else
    errors = validateUpdate(kindOf(old), now, old);
  return errors.empty() ? "" : errors.text();
}

TEST(ValidatePod, UpdatesMayChangeLittle) {
  const Row kRows[] = {
      {"spec.containers[0].image", "web:2", ""},
      {"metadata.labels", "{x: y}", ""},
      {"spec.tolerations", "[{operator: Exists}]", ""},
      {"spec.activeDeadlineSeconds", "10", ""},
      {"spec.nodeName", "n1", "spec: Forbidden: pod updates may not change fields other than"},
      {"spec.containers[0].env", "[{name: A, value: b}]", "spec: Forbidden"},
      {"spec.containers", "[{name: main, image: web:1}]", "spec: Forbidden"},
      {"spec.nodeSelector", "{a: b}", "spec: Forbidden"},
      {"spec.schedulingGates", "[{name: a}]", "only deletion is allowed"},
      {"metadata.name", "other", "metadata.name: Invalid value: \"other\": field is immutable"},
  };
  for (const Row& row : kRows) {
    std::string got = updateErrors(kPod, row.path, row.value);
    if (*row.want == '\0')
      EXPECT_EQ(got, "") << row.path;
    else
      EXPECT_THAT(got, HasSubstr(row.want)) << row.path;
  }
}

TEST(ValidatePod, GatedPodsMayStillBeTightened) {
  std::string gated = std::string(kPod) + "  schedulingGates: [{name: a}]\n";
  EXPECT_EQ(updateErrors(gated, "spec.nodeSelector", "{a: b}"), "");
  EXPECT_EQ(updateErrors(gated, "spec.schedulingGates", "<none>"), "");
}

TEST(ValidatePod, ResizeAndEphemeralContainersChangeOnlyTheirOwn) {
  EXPECT_EQ(
      updateErrors(kPod, "spec.containers[0].resources", "{limits: {cpu: '3'}}", validatePodResize),
      "");
  EXPECT_THAT(updateErrors(kPod, "spec.containers[0].image", "b", validatePodResize),
              HasSubstr("only cpu and memory resources are mutable"));
  EXPECT_EQ(updateErrors(kPod, "spec.ephemeralContainers", "[{name: d, image: busybox}]",
                         validateEphemeralContainers),
            "");
  EXPECT_THAT(updateErrors(kPod, "spec.nodeName", "b", validateEphemeralContainers),
              HasSubstr("Forbidden"));
}

TEST(ValidateMeta, DeletedObjectsGetNoNewFinalizers) {
  json::Value old = completed(kPod);
  put(old, "metadata.deletionTimestamp", "'2026-01-01T00:00:00Z'");
  put(old, "metadata.finalizers", "[a.com/x, a.com/y]");
  json::Value now = old;
  put(now, "metadata.finalizers", "[a.com/x]");
  EXPECT_TRUE(validateUpdate(kindOf(old), now, old).empty());
  put(now, "metadata.finalizers", "[a.com/x, a.com/z]");
  EXPECT_THAT(validateUpdate(kindOf(old), now, old).text(), HasSubstr("no new finalizers"));
}

TEST(ValidateMeta, AnnotationsHaveALimit) {
  json::Value pod = completed(kPod);
  json::Object annotations{{"a", std::string(256 * 1024, 'x')}};
  pod.get_object()["metadata"].get_object()["annotations"] = annotations;
  EXPECT_EQ(validateCreate(kindOf(pod), pod).text(),
            "metadata.annotations: Too long: may not be more than 262144 bytes");
}

TEST(FieldErrors, FormTheCausesOfAStatus) {
  FieldErrors errors;
  errors.required(FieldPath("a"));
  errors.invalid(FieldPath("b"), -1, "must be nice");
  EXPECT_EQ(errors.text(), "[a: Required value, b: Invalid value: -1: must be nice]");
  EXPECT_EQ(
      json::write(errors.causes()),
      R"([{"reason":"FieldValueRequired","message":"Required value","field":"a"},)"
      R"({"reason":"FieldValueInvalid","message":"Invalid value: -1: must be nice","field":"b"}])");
  for (int i = 0; i < 1000; ++i) errors.required(FieldPath("a"));
  EXPECT_EQ(errors.size(), FieldErrors::kMost);
}

}  // namespace
}  // namespace mangrove::apiserver
