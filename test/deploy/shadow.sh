#!/usr/bin/env bash
# `manager --dry-run` beside a live cluster, with the rights of an observer: it says what it would write, and nothing changes.
source "$(dirname "$0")/../e2e/lib/apiserver.sh"
here=$(cd "$(dirname "$0")" && pwd)
manager=
trap 'code=$?; [ -z "$manager" ] || kill "$manager" 2>/dev/null; finish $code' EXIT
start
kubectl create namespace koordinator-system >/dev/null
kubectl apply -f "$here/../../config/rbac/manager.yaml" >/dev/null
kubectl create -f - >/dev/null <<'Y'
apiVersion: v1
kind: ConfigMap
metadata: {name: slo-controller-config, namespace: koordinator-system}
data: {colocation-config: '{"enable":true}'}
---
apiVersion: v1
kind: Node
metadata: {name: n1}
status:
  capacity: {cpu: "8", memory: 16Gi, pods: "110"}
  allocatable: {cpu: "8", memory: 16Gi, pods: "110"}
---
apiVersion: slo.koordinator.sh/v1alpha1
kind: NodeMetric
metadata: {name: n1}
spec: {}
Y
report="{\"status\":{\"updateTime\":\"$(date -u +%FT%TZ)\",\"nodeMetric\":{\"nodeUsage\":{\"resources\":{\"cpu\":\"1\",\"memory\":\"1Gi\"}},\"systemUsage\":{\"resources\":{\"cpu\":\"100m\",\"memory\":\"100Mi\"}}}}}"
kubectl patch nodemetric n1 --subresource=status --type=merge -p "$report" >/dev/null
objects() { kubectl get nodes,nodemetrics,nodeslos,elasticquotas,events -A -o json; }
before=$(objects)

token=$(kubectl -n koordinator-system create token mangrove-manager)
kubectl config view --raw --flatten >"$dir/manager.kubeconfig"
kubectl --kubeconfig "$dir/manager.kubeconfig" config set-credentials manager --token "$token" >/dev/null
kubectl --kubeconfig "$dir/manager.kubeconfig" config set-context --current --user manager >/dev/null
"$mangrove" manager --kubeconfig "$dir/manager.kubeconfig" --dry-run --metrics-addr 0 --health-probe-addr 0 >"$dir/manager.out" 2>&1 &
manager=$!
eventually want 'would patch nodes n1/status' cat "$dir/manager.out"
want 'batch-cpu' grep 'would patch nodes n1/status' "$dir/manager.out"
eventually want 'would create nodeslos' cat "$dir/manager.out"
eventually want 'would patch nodemetrics n1' cat "$dir/manager.out"
lacks forbidden cat "$dir/manager.out"
kill "$manager"
wait "$manager" || true
manager=
same "$before" objects
same 1 bash -c "grep -c 'would create nodeslos' '$dir/manager.out'"
all_good
