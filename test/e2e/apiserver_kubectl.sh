#!/usr/bin/env bash
# Drives `mangrove apiserver` with a stock kubectl, kills it in the middle, and looks whether everything is still there.
# Needs kubectl in PATH or in ~/.cache/mangrove/bin; says so and is skipped otherwise.
source "$(dirname "$0")/lib/apiserver.sh"

start
cat >"$dir/objects.yaml" <<'Y'
apiVersion: v1
kind: Namespace
metadata: {name: demo}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: demo}
data: {k: v}
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: demo, labels: {app: web}}
spec:
  containers:
  - {name: c, image: "nginx:1.25", resources: {requests: {cpu: 100m}}}
Y
want "namespace/demo created" kubectl apply -f "$dir/objects.yaml"
want "configmap/a serverside-applied" kubectl apply --server-side -f "$dir/objects.yaml"
want "Pending" kubectl -n demo get pods -o wide
want "QoS Class:                   Burstable" kubectl -n demo describe pod web
want "pod/web labeled" kubectl -n demo label pod web x=y
want "web" kubectl get pods -A -l x=y -o name
want "configmap/a patched" kubectl -n demo patch cm a --type json -p '[{"op":"add","path":"/data/j","value":"1"}]'
want "configmap/a patched" kubectl -n demo patch cm a --type merge -p '{"data":{"m":"1"}}'
want '{"j":"1","k":"v","m":"1"}' kubectl -n demo get cm a -o 'jsonpath={.data}'
want "containers" kubectl explain pod.spec
want "configmaps" kubectl api-resources
refused "not found" kubectl -n demo get cm none
refused "must consist of lower case" kubectl apply -f - <<<'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"Bad_Name","namespace":"demo"}}'

want "nodemetrics.slo.koordinator.sh" kubectl get crd
want "nodemetric.slo.koordinator.sh/n1 created" kubectl apply -f - <<'Y'
apiVersion: slo.koordinator.sh/v1alpha1
kind: NodeMetric
metadata: {name: n1}
spec: {metricCollectPolicy: {reportIntervalSeconds: 60}}
Y
want "deployment.apps/d created" kubectl apply -f - <<'Y'
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, namespace: demo}
spec:
  selector: {matchLabels: {app: d}}
  template: {metadata: {labels: {app: d}}, spec: {containers: [{name: c, image: i}]}}
Y
want "deployment.apps/d scaled" kubectl -n demo scale deploy d --replicas 5
want "5" kubectl -n demo get deploy d -o 'jsonpath={.spec.replicas}'

# What kubectl sends as protobuf, and reads back so.
want "namespace/proto created" kubectl create namespace proto
want "configmap/c created" kubectl -n proto create configmap c --from-literal=a=ä --from-file=kubeconfig="$KUBECONFIG"
want "secret/s created" kubectl -n proto create secret generic s --from-literal=p=q
want "deployment.apps/d created" kubectl -n proto create deployment d --image=i --replicas=2 --port=80
want "job.batch/j created" kubectl -n proto create job j --image=i -- sleep 1
want "cronjob.batch/cj created" kubectl -n proto create cronjob cj --image=i --schedule='*/5 * * * *'
want "role.rbac.authorization.k8s.io/r created" kubectl -n proto create role r --verb=get --resource=pods
want "rolebinding.rbac.authorization.k8s.io/rb created" kubectl -n proto create rolebinding rb --role=r --serviceaccount=proto:sa
want "serviceaccount/sa created" kubectl -n proto create serviceaccount sa
want "resourcequota/q created" kubectl -n proto create quota q --hard=cpu=1500m
want "poddisruptionbudget.policy/p created" kubectl -n proto create pdb p --selector=app=d --min-available=50%
want "priorityclass.scheduling.k8s.io/pc created" kubectl create priorityclass pc --value=-5
want "ey" kubectl -n proto create token sa --duration=1h
same "ä" kubectl -n proto get cm c -o 'jsonpath={.data.a}'
same "cQ==" kubectl -n proto get secret s -o 'jsonpath={.data.p}'
same "2 80 1500m 50% -5" kubectl -n proto get deploy/d resourcequota/q pdb/p priorityclass/pc \
  -o 'jsonpath={.items[0].spec.replicas} {.items[0].spec.template.spec.containers[0].ports[0].containerPort} {.items[1].spec.hard.cpu} {.items[2].spec.minAvailable} {.items[3].value}'
want "yes" kubectl -n proto auth can-i create pods
want "yes" kubectl -n proto auth can-i get pods --as system:serviceaccount:proto:sa
refused "no" kubectl -n proto auth can-i create pods --as system:serviceaccount:proto:sa
want "admin" kubectl auth whoami
refused "AlreadyExists" kubectl create namespace proto
refused 'is invalid: metadata.name' kubectl -n proto create configmap Bad_Name
want "deleted" kubectl -n proto delete deployment d --cascade=foreground --grace-period=1
want "deleted" kubectl delete priorityclass pc --now
want 'namespace "proto" deleted' kubectl delete namespace proto --timeout=60s

kill -9 "$server"
wait "$server" 2>/dev/null || true
start "$port"
want '{"j":"1","k":"v","m":"1"}' kubectl -n demo get cm a -o 'jsonpath={.data}'
want "pod \"web\" deleted" kubectl -n demo delete pod web --wait=true
want "No resources found" kubectl -n demo get pods
want "n1" kubectl get nodemetrics
want 'namespace "demo" deleted' kubectl delete namespace demo --timeout=60s
refused "not found" kubectl -n demo get deploy d
all_good
