#!/usr/bin/env bash
# How stock kubectl shows things: outputs, order, selectors, pages, watches, waits, descriptions, events.
source "$(dirname "$0")/lib/apiserver.sh"
start

kubectl apply -f - >/dev/null <<'Y'
apiVersion: v1
kind: Namespace
metadata: {name: show}
---
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {zone: a}}
status:
  capacity: {cpu: "4", memory: 8Gi, pods: "110"}
  allocatable: {cpu: "4", memory: 8Gi, pods: "110"}
  conditions: [{type: Ready, status: "True", reason: KubeletReady, message: fine}]
  addresses: [{type: InternalIP, address: 10.1.1.1}]
  nodeInfo: {kubeletVersion: v1.35.4, osImage: Debian, kernelVersion: "6.1", containerRuntimeVersion: "x://1", architecture: amd64, bootID: b, kubeProxyVersion: "", machineID: m, operatingSystem: linux, systemUUID: s}
---
apiVersion: v1
kind: Pod
metadata: {name: b, namespace: show, labels: {app: web, num: "2"}}
spec: {containers: [{name: c, image: "nginx:1", resources: {requests: {cpu: 100m, memory: 64Mi}}}], nodeName: n1}
---
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: show, labels: {app: web, num: "1"}}
spec: {priorityClassName: system-node-critical, containers: [{name: c, image: "nginx:1"}]}
---
apiVersion: v1
kind: Pod
metadata: {name: c, namespace: show, labels: {app: db}}
spec: {containers: [{name: c, image: "nginx:1"}, {name: d, image: "busybox"}]}
Y
kubectl -n show patch pod b --subresource=status --type=strategic -p '{"status":{"phase":"Running","podIP":"10.0.0.2","podIPs":[{"ip":"10.0.0.2"}],
  "conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"name":"c","ready":true,"restartCount":3,"image":"nginx:1","imageID":"","started":true,
  "state":{"running":{"startedAt":"2026-01-01T00:00:00Z"}}}]}}' >/dev/null

want "b      1/1     Running   3" kubectl -n show get pods
want "NOMINATED NODE" kubectl -n show get pods -o wide
want "10.0.0.2   n1" kubectl -n show get pods -o wide
want "kind: Pod" kubectl -n show get pod b -o yaml
want '"restartCount": 3' kubectl -n show get pod b -o json
same "10.0.0.2" kubectl -n show get pod b -o 'jsonpath={.status.podIP}'
same "a b c " kubectl -n show get pods -o 'jsonpath={range .items[*]}{.metadata.name}{" "}{end}'
same $'NAME   IMAGE\nb      nginx:1' kubectl -n show get pod b -o custom-columns=NAME:.metadata.name,IMAGE:.spec.containers[0].image
same $'pod/a\npod/b\npod/c' kubectl -n show get pods -o name
same "a,b,c," kubectl -n show get pods -o 'go-template={{range .items}}{{.metadata.name}},{{end}}'
same $'pod/a\npod/b' kubectl -n show get pods -l app=web -o name
same "pod/c" kubectl -n show get pods -l 'app notin (web)' -o name
same "pod/a" kubectl -n show get pods -l 'app=web,num in (1)' -o name
same "pod/b" kubectl -n show get pods --field-selector status.phase=Running -o name
same "pod/b" kubectl -n show get pods --field-selector spec.nodeName=n1,metadata.name!=a -o name
refused "field label not supported" kubectl -n show get pods --field-selector spec.nope=1
want "kube-system" kubectl get ns --sort-by=.metadata.name
same $'pod/c\npod/a\npod/b' kubectl -n show get pods -o name --sort-by='{.metadata.labels.num}' 
want "show        a" kubectl get pods -A
want "LABELS" kubectl -n show get pods --show-labels
want "APP" kubectl -n show get pods -L app
same $'pod/a\npod/b\npod/c' kubectl -n show get pods --chunk-size=1 -o name
want "b      1/1" kubectl -n show get pods --chunk-size=2
same "pod/a" kubectl -n show get pod/a -o name
refused 'pods "none" not found' kubectl -n show get pod none
same "" kubectl -n show get pod none --ignore-not-found
want "No resources found in show namespace." kubectl -n show get secrets
want "pod/a" kubectl -n show get all
want "configmap/kube-root-ca.crt" kubectl -n show get cm,sa,secrets

kubectl -n show get pods -w --output-watch-events >"$dir/watch" 2>&1 &
watcher=$!
eventually want "ADDED" cat "$dir/watch"
kubectl -n show label pod a seen=yes >/dev/null
kubectl -n show delete pod c --wait=false >/dev/null
eventually want "DELETED" cat "$dir/watch"
want "MODIFIED" cat "$dir/watch"
kill "$watcher"
wait "$watcher" 2>/dev/null || true

want "condition met" kubectl -n show wait --for=condition=Ready pod/b --timeout=5s
refused "timed out waiting" kubectl -n show wait --for=condition=Ready pod/a --timeout=1s
want "condition met" kubectl -n show wait --for=jsonpath='{.status.phase}'=Running pod/b --timeout=5s
(sleep 0.5 && kubectl -n show delete pod a >/dev/null) &
want "condition met" kubectl -n show wait --for=delete pod/a --timeout=20s
want "condition met" kubectl wait --for=create ns/show --timeout=5s
wait %% 2>/dev/null || true

sed "s/UID/$(kubectl -n show get pod b -o 'jsonpath={.metadata.uid}')/" <<'Y' | kubectl -n show apply -f - >/dev/null
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec: {selector: {matchLabels: {app: d}}, template: {metadata: {labels: {app: d}}, spec: {containers: [{name: c, image: "i:1", env: [{name: A, value: b}]}]}}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: s}
spec: {serviceName: s, selector: {matchLabels: {app: s}}, template: {metadata: {labels: {app: s}}, spec: {containers: [{name: c, image: "i:1"}]}}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: cj}
spec: {schedule: "@daily", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: "i:1"}]}}}}}
---
apiVersion: v1
kind: Service
metadata: {name: svc}
spec: {selector: {app: d}, ports: [{port: 80, targetPort: 8080}]}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: claim}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: ing}
spec: {rules: [{host: a.b, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: svc, port: {number: 80}}}}]}}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: pdb}
spec: {minAvailable: 1, selector: {matchLabels: {app: d}}}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: quota}
spec: {hard: {pods: "10"}}
---
apiVersion: v1
kind: LimitRange
metadata: {name: limits}
spec: {limits: [{type: Container, max: {cpu: "2"}}]}
---
apiVersion: v1
kind: Event
metadata: {name: e}
involvedObject: {kind: Pod, name: b, namespace: show, apiVersion: v1, uid: UID}
reason: Hello
message: from the test
type: Warning
firstTimestamp: "2026-01-01T00:00:00Z"
lastTimestamp: "2026-01-01T00:00:00Z"
count: 2
source: {component: tester}
Y
want "Burstable" kubectl -n show describe pod b
want "Hello" kubectl -n show describe pod b
want "Allocated resources:" kubectl describe node n1
want "Kubelet Version:            v1.35.4" kubectl describe node n1
want "StrategyType:           RollingUpdate" kubectl -n show describe deployment d
want "Port:                     <unset>  80/TCP" kubectl -n show describe service svc
for what in sts/s cj/cj pvc/claim ing/ing pdb/pdb quota/quota limits/limits sa/default cm/kube-root-ca.crt; do
  want "Name:" kubectl -n show describe "$what"
done
want "Name:" kubectl describe ns show
want "Name:" kubectl describe priorityclass system-node-critical
want "Name:" kubectl describe clusterrole view
want "Name:" kubectl describe crd nodemetrics.slo.koordinator.sh
want "Hello" kubectl -n show events
want "Hello" kubectl -n show events --for pod/b --types=Warning
want "from the test" kubectl -n show get events
want "Ready" kubectl get nodes -o wide
# An Event of the new form is found by who reported it.
kubectl create -f - >/dev/null <<Y
---
{apiVersion: events.k8s.io/v1, kind: Event, metadata: {name: told, namespace: default}, eventTime: "2026-01-02T03:04:05.000000Z", reportingController: teller,
  reportingInstance: teller-1, action: Telling, reason: Told, type: Normal, regarding: {kind: Pod, name: x, namespace: default}}
Y
want Told kubectl get events --field-selector source=teller
lacks Told kubectl get events --field-selector source=other
all_good
