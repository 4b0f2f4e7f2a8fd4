#include "api/pod/pod.h"

#include <gtest/gtest.h>

#include "api/object/node.h"
#include "api/pod/pod_run.h"

namespace mangrove::api {
namespace {

constexpr const char* kPodText = R"({"apiVersion":"v1","kind":"Pod",
 "metadata":{"name":"web-0","namespace":"shop","uid":"u","labels":{"app":"web"}},
 "spec":{"nodeName":"n1","schedulerName":"koord-scheduler","priority":9500,
  "priorityClassName":"koord-prod","preemptionPolicy":"Never","restartPolicy":"OnFailure",
  "hostNetwork":true,"hostPID":true,"terminationGracePeriodSeconds":5,"activeDeadlineSeconds":60,
  "nodeSelector":{"disk":"ssd"},"runtimeClassName":"kata","serviceAccountName":"sa","os":{"name":"linux"},
  "overhead":{"cpu":"100m"},"resources":{"requests":{"cpu":"3"},"limits":{"cpu":"4"}},
  "schedulingGates":[{"name":"g1"},{"name":"g2"}],
  "tolerations":[{"key":"k","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}],
  "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
      {"matchExpressions":[{"key":"zone","operator":"In","values":["a"]}]}]},
    "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":7,"preference":{"matchExpressions":[
      {"key":"x","operator":"Exists"}]}}]},
   "podAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":3,"podAffinityTerm":
      {"topologyKey":"zone","labelSelector":{"matchLabels":{"a":"b"}},"namespaces":["n"]}}]},
   "podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"host",
      "labelSelector":{"matchLabels":{"app":"web"}},"namespaceSelector":{},"matchLabelKeys":["v"]}]}},
  "topologySpreadConstraints":[{"maxSkew":2,"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway",
    "labelSelector":{"matchLabels":{"app":"web"}},"minDomains":3,"nodeAffinityPolicy":"Ignore",
    "nodeTaintsPolicy":"Honor","matchLabelKeys":["rev"]}],
  "resourceClaims":[{"name":"gpu","resourceClaimTemplateName":"t"}],
  "volumes":[{"name":"tok","projected":{"sources":[]}},{"name":"d","persistentVolumeClaim":{"claimName":"c1","readOnly":true}},
    {"name":"e","ephemeral":{"volumeClaimTemplate":{"spec":{"storageClassName":"fast"}}}},
    {"name":"r","rbd":{"monitors":["m1","m2"],"pool":"p","image":"i"}},
    {"name":"s","csi":{"driver":"drv"}},{"name":"w","awsElasticBlockStore":{"volumeID":"v"}}],
  "initContainers":[{"name":"side","restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}},{"name":"init"}],
  "containers":[{"name":"main","image":"img:1","command":["x"],
    "ports":[{"containerPort":80,"hostPort":8080,"protocol":"UDP","hostIP":"10.0.0.1","name":"http"}],
    "resources":{"requests":{"cpu":"500m","memory":"1Gi"},"limits":{"cpu":"1"},"claims":[{"name":"gpu"}]}}]},
 "status":{"phase":"Running","qosClass":"Burstable","podIP":"10.1.2.3",
  "podIPs":[{"ip":"10.1.2.3"},{"ip":"fd00::3"}],"hostIP":"10.0.0.1","reason":"r",
  "message":"m","startTime":"2026-01-01T00:00:00Z","nominatedNodeName":"n2",
  "conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-01-01T00:00:01Z"},
    {"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"no","observedGeneration":2}],
  "resourceClaimStatuses":[{"name":"gpu","resourceClaimName":"gpu-1"}],
  "initContainerStatuses":[{"name":"init","state":{"terminated":{"exitCode":3,"signal":9,"reason":"Error",
     "startedAt":"2026-01-01T00:00:00Z","finishedAt":"2026-01-01T00:00:02Z","message":"boom"}}}],
  "containerStatuses":[{"name":"main","image":"img:1","imageID":"img@sha256:1","containerID":"containerd://abc",
     "ready":true,"started":true,"restartCount":2,"state":{"running":{"startedAt":"2026-01-01T00:00:03Z"}},
     "lastState":{"terminated":{"exitCode":137,"reason":"OOMKilled"}},
     "allocatedResources":{"cpu":"600m"},"resources":{"requests":{"cpu":"700m"}}}]}})";

class PodDecode : public ::testing::Test {
 protected:
  void SetUp() override {
    auto decoded = decodeText<Pod>(kPodText);
    ASSERT_TRUE(decoded) << decoded.error().text();
    pod = *std::move(decoded);
  }
  Pod pod;
};

TEST_F(PodDecode, Scalars) {
  EXPECT_EQ(pod.nodeName, Interned("n1"));
  EXPECT_EQ(pod.spec->schedulerName.view(), "koord-scheduler");
  EXPECT_EQ(pod.spec->priority, 9500);
  EXPECT_EQ(pod.spec->priorityClassName.view(), "koord-prod");
  EXPECT_EQ(pod.spec->preemptionPolicy, PreemptionPolicy::kNever);
  EXPECT_EQ(pod.spec->restartPolicy, RestartPolicy::kOnFailure);
  EXPECT_TRUE(pod.spec->hostNetwork);
  EXPECT_TRUE(pod.spec->hostPid);
  EXPECT_FALSE(pod.spec->hostIpc);
  EXPECT_EQ(pod.spec->terminationGracePeriodSeconds, 5);
  EXPECT_EQ(pod.spec->activeDeadlineSeconds, 60);
  EXPECT_EQ(pod.spec->nodeSelector, (Labels{{"disk", "ssd"}}));
  EXPECT_EQ(pod.spec->runtimeClassName.view(), "kata");
  EXPECT_EQ(pod.spec->serviceAccountName.view(), "sa");
  EXPECT_EQ(pod.spec->os.view(), "linux");
  EXPECT_EQ(pod.spec->schedulingGates, (std::vector{Interned("g1"), Interned("g2")}));
  EXPECT_EQ(pod.spec->resourceClaims[0].templateName, "t");
  EXPECT_EQ(pod.spec->tolerations[0].seconds, 300);
}

TEST_F(PodDecode, ContainersAndResources) {
  const Container& main = pod.spec->containers.at(0);
  EXPECT_EQ(main.image.view(), "img:1");
  EXPECT_EQ(main.requests.cpu(), MilliCpu{500});
  EXPECT_EQ(main.limits.cpu(), MilliCpu{1000});
  EXPECT_EQ(main.claims, std::vector{Interned("gpu")});
  EXPECT_EQ(main.ports[0],
            (ContainerPort{Interned("http"), 80, 8080, Interned("UDP"), Interned("10.0.0.1")}));
  EXPECT_TRUE(pod.spec->initContainers[0].isSidecar);
  EXPECT_FALSE(pod.spec->initContainers[1].isSidecar);
  EXPECT_EQ(pod.spec->overhead.cpu(), MilliCpu{100});
  EXPECT_TRUE(pod.spec->hasPodResources);
  EXPECT_EQ(pod.spec->podRequests.cpu(), MilliCpu{3000});
  EXPECT_EQ(pod.spec->podLimits.cpu(), MilliCpu{4000});
}

TEST_F(PodDecode, Placement) {
  const Affinity& affinity = *pod.spec->affinity;
  EXPECT_EQ(affinity.node.required->terms.size(), 1u);
  EXPECT_EQ(affinity.node.preferred[0].weight, 7);
  EXPECT_EQ(affinity.pod.preferred[0].term.namespaces, std::vector{Interned("n")});
  const PodAffinityTerm& anti = affinity.antiPod.required.at(0);
  EXPECT_EQ(anti.topologyKey.view(), "host");
  EXPECT_TRUE(anti.namespaceSelector && anti.namespaceSelector->empty());
  EXPECT_EQ(anti.matchLabelKeys.size(), 1u);
  const SpreadConstraint& spread = pod.spec->spread.at(0);
  EXPECT_EQ(spread.maxSkew, 2);
  EXPECT_FALSE(spread.isHard);
  EXPECT_EQ(spread.minDomains, 3);
  EXPECT_FALSE(spread.honorNodeAffinity);
  EXPECT_TRUE(spread.honorNodeTaints);
}

TEST_F(PodDecode, VolumesThatMatter) {
  const auto& volumes = pod.spec->volumes;
  ASSERT_EQ(volumes.size(), 5u);
  EXPECT_EQ(volumes[0].id, "c1");
  EXPECT_TRUE(volumes[0].readOnly);
  EXPECT_EQ(volumes[1].source, Volume::Source::kEphemeral);
  EXPECT_EQ(volumes[1].claimStorageClass.view(), "fast");
  EXPECT_EQ(volumes[2].source, Volume::Source::kRbd);
  EXPECT_EQ(volumes[2].monitors.size(), 2u);
  EXPECT_EQ(volumes[2].pool.view(), "p");
  EXPECT_EQ(volumes[3].id, "drv");
  EXPECT_EQ(volumes[4].source, Volume::Source::kAwsDisk);
}

TEST_F(PodDecode, Status) {
  const PodStatus& status = pod.status;
  EXPECT_EQ(status.phase, PodPhase::kRunning);
  EXPECT_EQ(podPhaseName(status.phase), "Running");
  EXPECT_EQ(status.qosClass, KubeQos::kBurstable);
  EXPECT_EQ(status.podIp, "10.1.2.3");
  EXPECT_EQ(status.secondIp, "fd00::3");
  EXPECT_EQ(status.nominatedNodeName.view(), "n2");
  EXPECT_TRUE(isTrue(status.conditions, "Ready"));
  EXPECT_FALSE(isTrue(status.conditions, "PodScheduled"));
  EXPECT_FALSE(isTrue(status.conditions, "Missing"));
  EXPECT_EQ(findCondition(status.conditions, "PodScheduled")->observedGeneration, 2);
  EXPECT_EQ((*status.claims)[0].claimName, "gpu-1");
  const ContainerStatus* main = status.find(Interned("main"));
  ASSERT_NE(main, nullptr);
  EXPECT_TRUE(main->isRunning());
  EXPECT_EQ(main->bareId(), "abc");
  EXPECT_EQ(main->restartCount, 2);
  EXPECT_EQ(main->lastState->exitCode, 137);
  EXPECT_EQ(main->granted->allocated.cpu(), MilliCpu{600});
  EXPECT_EQ(main->granted->requests.cpu(), MilliCpu{700});
  const ContainerStatus* init = status.find(Interned("init"));
  EXPECT_TRUE(init->isTerminated());
  EXPECT_EQ(init->state.exitCode, 3);
  EXPECT_EQ(init->state.message, "boom");
  EXPECT_FALSE(init->granted->hasResources);
}

TEST(Pod, SiblingsShareOneSpecWhateverTheirNode) {
  const auto sibling = [](const std::string& node, const std::string& image) {
    return *decodeText<Pod>(R"({"metadata":{"name":"x"},"spec":{"nodeName":")" + node +
                            R"(","containers":[{"name":"c","image":")" + image + R"("}]}})");
  };
  const Pod a = sibling("n1", "i"), b = sibling("n2", "i"), c = sibling("n1", "j");
  EXPECT_TRUE(a.spec.same(b.spec));
  EXPECT_FALSE(a.spec.same(c.spec));
  EXPECT_NE(a.nodeName, b.nodeName);
}

TEST(Pod, Activity) {
  struct Row {
    const char* json;
    bool terminated, active, mirror;
  };
  const Row table[] = {
      {R"({"status":{"phase":"Running"}})", false, true, false},
      {R"({"status":{"phase":"Succeeded"}})", true, false, false},
      {R"({"status":{"phase":"Failed"}})", true, false, false},
      {R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}})", false, false, false},
      {R"({"metadata":{"annotations":{"kubernetes.io/config.mirror":"x"}}})", false, true, true},
  };
  for (const Row& row : table) {
    const Pod pod = *decodeText<Pod>(row.json);
    EXPECT_EQ(isTerminated(pod), row.terminated) << row.json;
    EXPECT_EQ(isActive(pod), row.active) << row.json;
    EXPECT_EQ(isMirror(pod), row.mirror) << row.json;
  }
}

TEST(Pod, RefusalsNameThePlace) {
  const std::pair<const char*, const char*> table[] = {
      {R"({"spec":{"containers":[{},{"resources":{"requests":{"cpu":"x"}}}]}})",
       "spec.containers[1].resources.requests.cpu: 'x' is not a quantity"},
      {R"({"spec":{"nodeName":3}})", "spec.nodeName: found number 3, want a string"},
      {R"({"spec":{"priority":"high"}})", "spec.priority: found string 'high', want an integer"},
      {R"({"spec":{"volumes":[7]}})", "spec.volumes[0]: found number 7, want an object"},
      {R"({"metadata":{"labels":{"a":1}}})", "metadata.labels.a: found number 1, want a string"},
      {R"({"status":{"conditions":[{"lastTransitionTime":"now"}]}})",
       "status.conditions[0].lastTransitionTime: 'now' is not an RFC 3339 time"},
      {R"({"status":{"containerStatuses":{}}})",
       "status.containerStatuses: found object, want an array"},
  };
  for (auto [text, error] : table) {
    auto pod = decodeText<Pod>(text);
    ASSERT_FALSE(pod) << text;
    EXPECT_EQ(pod.error().text(), error);
  }
}

TEST(PodRun, ReadsWhatARunnerNeeds) {
  auto run = decodeText<PodRun>(R"({"spec":{"hostname":"h","dnsPolicy":"None",
    "automountServiceAccountToken":false,"securityContext":{"runAsUser":1000,"fsGroup":2},
    "hostAliases":[{"ip":"1.2.3.4","hostnames":["a"]}],
    "volumes":[{"name":"e","emptyDir":{"medium":"Memory","sizeLimit":"1Mi"}},
      {"name":"c","configMap":{"name":"cm","items":[{"key":"k","path":"p","mode":420}],"optional":true}},
      {"name":"s","secret":{"secretName":"sec"}},{"name":"h","hostPath":{"path":"/x","type":"Directory"}},
      {"name":"p","projected":{"sources":[]}},{"name":"v","persistentVolumeClaim":{"claimName":"pvc"}}],
    "containers":[{"name":"a","image":"i","command":["sh","-c"],"args":["x"],"workingDir":"/w",
      "env":[{"name":"A","value":"1"},{"name":"B","valueFrom":{"fieldRef":{"fieldPath":"status.podIP"}}},
        {"name":"C","valueFrom":{"configMapKeyRef":{"name":"cm","key":"k","optional":true}}},
        {"name":"D","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu","divisor":"1m"}}}],
      "envFrom":[{"prefix":"P_","secretRef":{"name":"s"}}],
      "volumeMounts":[{"name":"e","mountPath":"/m","readOnly":true,"subPath":"x"}],
      "readinessProbe":{"httpGet":{"path":"/ok","port":"http","httpHeaders":[{"name":"X","value":"y"}]},"periodSeconds":3},
      "livenessProbe":{"exec":{"command":["true"]}},"startupProbe":{"tcpSocket":{"port":80}},
      "lifecycle":{"preStop":{"sleep":{"seconds":2}}},"securityContext":{"privileged":true}}]}})");
  ASSERT_TRUE(run) << run.error().text();
  const ContainerRun& c = run->containers.at(0);
  EXPECT_EQ(c.command.size(), 2u);
  EXPECT_EQ(c.env[1].fieldPath, "status.podIP");
  EXPECT_TRUE(c.env[2].configMap->optional);
  EXPECT_EQ(c.env[3].resourceField->divisor->milliValue(), 1);
  EXPECT_EQ(c.envFrom[0].secret->name, "s");
  EXPECT_EQ(c.mounts[0].subPath, "x");
  EXPECT_EQ(c.readiness->action.httpGet->port.text, "http");
  EXPECT_EQ(c.readiness->periodSeconds, 3);
  EXPECT_EQ(c.liveness->action.exec->command.size(), 1u);
  EXPECT_EQ(c.startup->action.tcpSocket->port.number, 80);
  EXPECT_EQ(c.preStop->sleepSeconds, 2);
  EXPECT_TRUE(c.security.privileged);
  ASSERT_EQ(run->volumes.size(), 6u);
  EXPECT_EQ(run->volumes[0].source, "Memory");
  EXPECT_EQ(run->volumes[1].items[0].mode, 420);
  EXPECT_EQ(run->volumes[2].source, "sec");
  EXPECT_EQ(run->volumes[3].hostPathType, "Directory");
  EXPECT_EQ(run->volumes[4].rest.text, R"({"sources":[]})");
  EXPECT_EQ(run->volumes[5].kind, RunVolume::Kind::kClaim);
  EXPECT_EQ(run->security.fsGroup, 2);
  EXPECT_FALSE(run->automountToken);
}

TEST(Node, ReadsSpecAndStatus) {
  auto node =
      decodeText<Node>(R"({"metadata":{"name":"n1","labels":{"topology.kubernetes.io/region":"r",
     "topology.kubernetes.io/zone":"z"}},
    "spec":{"unschedulable":true,"providerID":"p","podCIDR":"10.0.0.0/24","podCIDRs":["10.0.0.0/24"],
      "taints":[{"key":"k","effect":"NoSchedule","timeAdded":"2026-01-01T00:00:00Z"}]},
    "status":{"capacity":{"cpu":"4"},"allocatable":{"cpu":"3800m","pods":"110"},
      "conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":"2026-01-01T00:00:05Z"},
        {"type":"DiskPressure","status":"False","lastHeartbeatTime":"2026-01-01T00:00:01Z"}],
      "addresses":[{"type":"InternalIP","address":"10.0.0.1"}],
      "images":[{"names":["a@sha256:1","a:1"],"sizeBytes":1048576}],
      "nodeInfo":{"kubeletVersion":"v1.35.0","architecture":"amd64","systemUUID":"su"},
      "volumesInUse":["v"],"volumesAttached":[{"name":"v","devicePath":"/d"}],
      "declaredFeatures":["F"],"daemonEndpoints":{"kubeletEndpoint":{"Port":10250}}}})");
  ASSERT_TRUE(node) << node.error().text();
  EXPECT_TRUE(node->spec.unschedulable);
  EXPECT_EQ(node->spec.taints[0].effect, TaintEffect::kNoSchedule);
  EXPECT_EQ(taintEffectName(node->spec.taints[0].effect), "NoSchedule");
  EXPECT_EQ(node->status.allocatable.cpu(), MilliCpu{3800});
  EXPECT_TRUE(node->isReady());
  EXPECT_EQ(formatTime(node->status.heartbeat), "2026-01-01T00:00:05Z");
  EXPECT_EQ(node->status.images[0].size, kMiB);
  EXPECT_EQ(node->status.images[0].names.size(), 2u);
  EXPECT_EQ(node->status.info.kubeletVersion.view(), "v1.35.0");
  EXPECT_EQ(node->status.kubeletPort, 10250);
  EXPECT_EQ(node->status.volumesAttached[0].devicePath, "/d");
  EXPECT_EQ(zoneOf(*node), std::string("r:\0:z", 5));
  EXPECT_EQ(zoneOf(Node()), "");
}

}  // namespace
}  // namespace mangrove::api
