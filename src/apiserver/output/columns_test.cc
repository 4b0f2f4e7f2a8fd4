#include <gtest/gtest.h>

#include "apiserver/output/test_support.h"

namespace mangrove::apiserver {
namespace {

using namespace fixture;

struct RowCase {
  const char* object;
  const char* want;
};

// All are named x and five minutes old.
constexpr RowCase kRowCases[] = {
    {R"({apiVersion: v1, kind: Node, metadata: {labels: {node-role.kubernetes.io/worker: "",
         node-role.kubernetes.io/control-plane: "", kubernetes.io/role: db}},
         spec: {unschedulable: true},
         status: {conditions: [{type: MemoryPressure, status: "False"}, {type: Ready, status: "True"}],
           addresses: [{type: Hostname, address: h}, {type: InternalIP, address: 10.0.0.1}],
           nodeInfo: {kubeletVersion: v1.35.4, osImage: Debian 12, kernelVersion: "6.18",
             containerRuntimeVersion: "containerd://2.0"}}})",
     R"(["x","Ready,SchedulingDisabled","control-plane,db,worker","5m","v1.35.4","10.0.0.1","<none>","Debian 12","6.18","containerd://2.0"])"},
    {"{apiVersion: v1, kind: Node, status: {conditions: [{type: Ready, status: Unknown}]}}",
     R"(["x","NotReady","<none>","5m","","<none>","<none>","<unknown>","<unknown>","<unknown>"])"},
    {"{apiVersion: v1, kind: Namespace, status: {phase: Active}}", R"(["x","Active","5m"])"},
    {R"({apiVersion: apps/v1, kind: Deployment,
         spec: {replicas: 3, selector: {matchLabels: {b: "2", a: "1"}, matchExpressions: [{key: c,
           operator: In, values: [z, w]}, {key: d, operator: Exists}, {key: e, operator: DoesNotExist}]},
           template: {spec: {containers: [{name: a, image: i:1}, {name: b, image: j:2}]}}},
         status: {readyReplicas: 1, updatedReplicas: 2, availableReplicas: 1}})",
     R"(["x","1/3",2,1,"5m","a,b","i:1,j:2","a=1,b=2,c in (w,z),d,!e"])"},
    {"{apiVersion: apps/v1, kind: ReplicaSet, spec: {replicas: 0}, status: {replicas: 1}}",
     R"(["x",0,1,0,"5m","","","<none>"])"},
    {"{apiVersion: v1, kind: ReplicationController, spec: {selector: {app: web}}}",
     R"(["x",1,0,0,"5m","","","app=web"])"},
    {"{apiVersion: apps/v1, kind: StatefulSet, spec: {replicas: 2}, status: {readyReplicas: 2}}",
     R"(["x","2/2","5m","",""])"},
    {R"({apiVersion: apps/v1, kind: DaemonSet,
         spec: {template: {spec: {nodeSelector: {disk: ssd}}}},
         status: {desiredNumberScheduled: 5, currentNumberScheduled: 4, numberReady: 3,
           updatedNumberScheduled: 2, numberAvailable: 1}})",
     R"(["x",5,4,3,2,1,"disk=ssd","5m","","","<none>"])"},
    {R"({apiVersion: apps/v1, kind: ControllerRevision, revision: 4, metadata: {ownerReferences:
         [{kind: Foo, name: f}, {apiVersion: apps/v1, kind: StatefulSet, name: db, controller: true}]}})",
     R"(["x","statefulset.apps/db",4,"5m"])"},
    {R"({apiVersion: batch/v1, kind: Job, spec: {completions: 3},
         status: {succeeded: 1, startTime: "2026-03-01T11:58:00Z"}})",
     R"(["x","Running","1/3","2m","5m","","","<none>"])"},
    {R"({apiVersion: batch/v1, kind: Job, spec: {parallelism: 4},
         status: {succeeded: 4, startTime: "2026-03-01T11:55:00Z",
           completionTime: "2026-03-01T11:55:30Z", conditions: [{type: Complete, status: "True"}]}})",
     R"(["x","Complete","4/1 of 4","30s","5m","","","<none>"])"},
    {R"({apiVersion: batch/v1, kind: CronJob, spec: {schedule: "*/5 * * * *", suspend: false},
         status: {active: [{}, {}], lastScheduleTime: "2026-03-01T11:59:00Z"}})",
     R"(["x","*/5 * * * *","<none>","False",2,"60s","5m","","","<none>"])"},
    {R"({apiVersion: v1, kind: Service, spec: {type: ClusterIP, clusterIP: 10.1.1.1,
         clusterIPs: [10.1.1.1], ports: [{port: 80, protocol: TCP}, {port: 53, protocol: UDP}],
         selector: {app: web}}})",
     R"(["x","ClusterIP","10.1.1.1","<none>","80/TCP,53/UDP","5m","app=web"])"},
    {R"({apiVersion: v1, kind: Service, spec: {type: LoadBalancer, ports: [{port: 80, nodePort: 30080,
         protocol: TCP}]}})",
     R"(["x","LoadBalancer","<none>","<pending>","80:30080/TCP","5m","<none>"])"},
    {R"({apiVersion: v1, kind: Service, spec: {type: LoadBalancer, externalIPs: [9.9.9.9]},
         status: {loadBalancer: {ingress: [{ip: 1.2.3.4}, {hostname: lb.io}]}}})",
     R"(["x","LoadBalancer","<none>","1.2.3.4,lb.io,9.9.9.9","<none>","5m","<none>"])"},
    {"{apiVersion: v1, kind: Service, spec: {type: ExternalName, externalName: a.b}}",
     R"(["x","ExternalName","<none>","a.b","<none>","5m","<none>"])"},
    {R"({apiVersion: v1, kind: Endpoints, subsets: [{addresses: [{ip: 1.1.1.1}, {ip: "fd00::1"}],
         ports: [{port: 80}, {port: 81}]}, {addresses: [{ip: 2.2.2.2}]}]})",
     R"(["x","1.1.1.1:80,1.1.1.1:81,[fd00::1]:80 + 2 more...","5m"])"},
    {R"({apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, addressType: IPv4,
         ports: [{port: 80}, {name: any}], endpoints: [{addresses: [1.1.1.1]}]})",
     R"(["x","IPv4","80,*","1.1.1.1","5m"])"},
    {R"({apiVersion: v1, kind: ConfigMap, data: {a: "1", b: "2"}, binaryData: {c: AA==}})",
     R"(["x",3,"5m"])"},
    {"{apiVersion: v1, kind: Secret, type: Opaque, data: {a: AA==}}", R"(["x","Opaque",1,"5m"])"},
    {"{apiVersion: v1, kind: ServiceAccount, secrets: [{name: s}]}", R"(["x","5m"])"},
    {R"({apiVersion: v1, kind: Event, type: Warning, reason: BackOff, message: " again ",
         involvedObject: {kind: Pod, name: web, fieldPath: "spec.containers{a}"},
         source: {component: kubelet, host: n1}, count: 4,
         firstTimestamp: "2026-03-01T11:00:00Z", lastTimestamp: "2026-03-01T11:59:30Z"})",
     R"(["30s","Warning","BackOff","pod/web","spec.containers{a}","kubelet, n1","again","60m",4,"x"])"},
    {R"({apiVersion: v1, kind: Event, eventTime: "2026-03-01T11:58:00.000000Z",
         reportingComponent: sched, involvedObject: {kind: Node}})",
     R"(["2m","","","node","","sched","","2m",1,"x"])"},
    {R"({apiVersion: v1, kind: Event, eventTime: "2026-03-01T11:58:00.000000Z",
         series: {count: 9, lastObservedTime: "2026-03-01T11:59:59.000000Z"}})",
     R"(["1s","","","","","","","2m",9,"x"])"},
    {R"({apiVersion: v1, kind: PersistentVolume, spec: {capacity: {storage: 5Gi},
         accessModes: [ReadWriteMany, ReadWriteOnce], persistentVolumeReclaimPolicy: Retain,
         claimRef: {namespace: ns, name: c}, storageClassName: fast, volumeMode: Block},
         status: {phase: Bound}})",
     R"(["x","5Gi","RWO,RWX","Retain","Bound","ns/c","fast","<unset>","","5m","Block"])"},
    {R"({apiVersion: v1, kind: PersistentVolumeClaim, spec: {volumeName: v, storageClassName: fast},
         status: {phase: Bound, capacity: {storage: 5Gi}, accessModes: [ReadWriteOnce]}})",
     R"(["x","Bound","v","5Gi","RWO","fast","<unset>","5m","<unset>"])"},
    {R"({apiVersion: storage.k8s.io/v1, kind: StorageClass, provisioner: p, allowVolumeExpansion: true,
         metadata: {annotations: {storageclass.kubernetes.io/is-default-class: "true"}}})",
     R"~(["x (default)","p","Delete","Immediate",true,"5m"])~"},
    {"{apiVersion: coordination.k8s.io/v1, kind: Lease, spec: {holderIdentity: me}}",
     R"(["x","me","5m"])"},
    {"{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, value: 1000, globalDefault: true}",
     R"(["x",1000,true,"5m","PreemptLowerPriority"])"},
    {R"({apiVersion: policy/v1, kind: PodDisruptionBudget, spec: {maxUnavailable: 25%},
         status: {disruptionsAllowed: 2}})",
     R"(["x","N/A","25%",2,"5m"])"},
    {R"({apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, spec: {maxReplicas: 5, minReplicas: 2,
         scaleTargetRef: {kind: Deployment, name: web}, metrics: [{type: Resource, resource: {name: cpu,
         target: {type: Utilization, averageUtilization: 50}}}]}, status: {currentReplicas: 3,
         currentMetrics: [{type: Resource, resource: {name: cpu, current: {averageUtilization: 31}}}]}})",
     R"(["x","Deployment/web","cpu: 31%/50%","2",5,3,"5m"])"},
    {R"({apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, spec: {maxReplicas: 5,
         scaleTargetRef: {kind: Deployment, name: web}, metrics: [{type: Resource, resource: {name: memory,
         target: {averageValue: 1Gi}}}]}})",
     R"(["x","Deployment/web","memory: <unknown>/1Gi","<unset>",5,0,"5m"])"},
    {"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole}",
     R"(["x","2026-03-01T11:55:00Z"])"},
    {R"({apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, roleRef: {kind: Role, name: r},
         subjects: [{kind: User, name: u}, {kind: Group, name: g}, {kind: ServiceAccount,
         namespace: ns, name: s}, {kind: User, name: w}]})",
     R"(["x","Role/r","5m","u, w","g","ns/s"])"},
    {"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition}",
     R"(["x","2026-03-01T11:55:00Z"])"},
    {R"({apiVersion: networking.k8s.io/v1, kind: Ingress, spec: {ingressClassName: nginx, tls: [{}],
         rules: [{host: a.io}, {host: b.io}]}, status: {loadBalancer: {ingress: [{ip: 1.2.3.4}]}}})",
     R"(["x","nginx","a.io,b.io","1.2.3.4","80, 443","5m"])"},
    {"{apiVersion: networking.k8s.io/v1, kind: Ingress, spec: {}}",
     R"(["x","<none>","*","","80","5m"])"},
    {"{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, spec: {podSelector: {matchLabels: "
     "{a: b}}}}",
     R"(["x","a=b","5m"])"},
    {R"({apiVersion: v1, kind: ResourceQuota, status: {hard: {pods: "10", requests.cpu: "4",
         limits.cpu: "8"}, used: {pods: "3", limits.cpu: 500m}}})",
     R"(["x","pods: 3/10, requests.cpu: 0/4","limits.cpu: 500m/8","5m"])"},
    {"{apiVersion: v1, kind: LimitRange}", R"(["x","2026-03-01T11:55:00Z"])"},
    {R"({apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration,
         webhooks: [{}, {}]})",
     R"(["x",2,"5m"])"},
    {"{apiVersion: node.k8s.io/v1, kind: RuntimeClass, handler: kata}", R"(["x","kata","5m"])"},
    {R"({apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, spec: {attacher: a, nodeName: n1,
         source: {persistentVolumeName: v}}, status: {attached: true}})",
     R"(["x","a","v","n1",true,"5m"])"},
    {R"({apiVersion: storage.k8s.io/v1, kind: CSIDriver, spec: {attachRequired: false,
         volumeLifecycleModes: [Persistent, Ephemeral]}})",
     R"(["x",false,false,false,"<unset>",false,"Persistent,Ephemeral","5m"])"},
    {"{apiVersion: storage.k8s.io/v1, kind: CSINode, spec: {drivers: [{}, {}]}}",
     R"(["x",2,"5m"])"},
};

TEST(Columns, ShowWhatPeopleLookFor) {
  for (const auto& c : kRowCases) {
    json::Value object = yaml(c.object);
    put(object, "metadata.name", "x");
    put(object, "metadata.creationTimestamp", "\"2026-03-01T11:55:00Z\"");
    EXPECT_EQ(fixture::cellsOf(kindOf(object), object), c.want) << c.object;
  }
}

size_t countOf(const std::string& columns) {
  return json::parse(columns)->get_array().size();
}

// Whatever is missing or of a wrong type, each column gets one cell.
TEST(Columns, AreFilledWhateverTheObjectLacks) {
  const char* objects[] = {"{}", "{metadata: 3, spec: [], status: x}",
                           "{spec: {ports: {}, containers: [1, null]}, status: {conditions: {}}}"};
  for (const auto& kind : catalogue().kinds()) {
    std::string columns;
    printerFor(*kind)->columns(columns);
    for (const char* object : objects) {
      auto cells = json::parse(fixture::cellsOf(*kind, yaml(object)));
      ASSERT_TRUE(cells.has_value()) << kind->kind;
      EXPECT_EQ(cells->get_array().size(), countOf(columns)) << kind->kind << " " << object;
    }
  }
}

TEST(Columns, EveryKindHasANameAndWords) {
  for (const auto& kind : catalogue().kinds()) {
    std::string text;
    printerFor(*kind)->columns(text);
    size_t names = 0;
    const json::Value columns = *json::parse(text);
    for (const json::Value& column : columns.as_array()) {
      if (column.at("format") == "name") ++names;
      EXPECT_FALSE(column.at("description").get_string().empty()) << kind->kind << text;
      EXPECT_TRUE(column.at("priority").is_int64());
    }
    EXPECT_EQ(names, 1u) << kind->kind;
  }
}

}  // namespace
}  // namespace mangrove::apiserver
