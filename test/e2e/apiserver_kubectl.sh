#!/usr/bin/env bash
# Drives `mangrove apiserver` with a stock kubectl, kills it in the middle, and looks whether everything is still there.
# Needs kubectl in PATH or in ~/.cache/mangrove/bin; says so and is skipped otherwise.
set -euo pipefail
PATH=$PATH:$HOME/.cache/mangrove/bin
if ! command -v kubectl >/dev/null; then
  echo "skipped: no kubectl in PATH or ~/.cache/mangrove/bin"
  exit 77
fi
mangrove=${MANGROVE:?path of the binary}
dir=$(mktemp -d)
server=
trap '[ -n "$server" ] && kill "$server" 2>/dev/null; wait 2>/dev/null; rm -rf "$dir"' EXIT
export KUBECONFIG=$dir/data/kubeconfig HOME=$dir

start() {  # start PORT: sets $server and $port
  rm -f "$dir/out"
  mkfifo "$dir/out"
  "$mangrove" apiserver --data-dir "$dir/data" --port "$1" >"$dir/out" 2>"$dir/err" &
  server=$!
  read -r line <"$dir/out" || { cat "$dir/err"; return 1; }
  port=$(sed -n 's/.*:\([0-9]*\),.*/\1/p' <<<"$line")
}
want() {  # want TEXT COMMAND…: its output must contain the text
  local text=$1 got
  shift
  got=$("$@" 2>&1) || true
  grep -qF -- "$text" <<<"$got" || { printf 'FAILED: %s\n  want: %s\n  got:  %s\n' "$*" "$text" "$got"; exit 1; }
  echo "ok: $*"
}

start 0
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
want "QoS Class:        Burstable" kubectl -n demo describe pod web
want "pod/web labeled" kubectl -n demo label pod web x=y
want "web" kubectl get pods -A -l x=y -o name
want "configmap/a patched" kubectl -n demo patch cm a --type json -p '[{"op":"add","path":"/data/j","value":"1"}]'
want "configmap/a patched" kubectl -n demo patch cm a --type merge -p '{"data":{"m":"1"}}'
want '{"j":"1","k":"v","m":"1"}' kubectl -n demo get cm a -o 'jsonpath={.data}'
want "containers" kubectl explain pod.spec
want "configmaps" kubectl api-resources
want "not found" kubectl -n demo get cm none
want "must consist of lower case" kubectl apply -f - <<<'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"Bad_Name","namespace":"demo"}}'

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

kill -9 "$server"
wait "$server" 2>/dev/null || true
start "$port"
want '{"j":"1","k":"v","m":"1"}' kubectl -n demo get cm a -o 'jsonpath={.data}'
want "pod \"web\" deleted" kubectl -n demo delete pod web --wait=true
want "No resources found" kubectl -n demo get pods
want "n1" kubectl get nodemetrics
want 'namespace "demo" deleted' kubectl delete namespace demo --timeout=60s
want "not found" kubectl -n demo get deploy d
echo "all good"
