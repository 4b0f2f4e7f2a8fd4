#!/usr/bin/env bash
# Points an unmodified kube-scheduler at `mangrove apiserver`: it leads, binds what fits and says why the rest does not.
# Needs kube-scheduler and kubectl in PATH or ~/.cache/mangrove/bin.
source "$(dirname "$0")/lib/apiserver.sh"
if ! command -v kube-scheduler >/dev/null; then
  echo "skipped: no kube-scheduler in PATH or ~/.cache/mangrove/bin"
  exit 77
fi
start
kube-scheduler --kubeconfig "$KUBECONFIG" --secure-port=0 --v=1 >"$dir/scheduler.log" 2>&1 &
scheduler=$!
trap 'code=$?; kill "$scheduler" 2>/dev/null; finish $code' EXIT
kubectl apply -f - >/dev/null <<'Y'
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {capacity: {cpu: "4", memory: 8Gi, pods: "110"}, allocatable: {cpu: "4", memory: 8Gi, pods: "110"}, conditions: [{type: Ready, status: "True"}]}
---
apiVersion: v1
kind: Pod
metadata: {name: fits}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: big}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "10"}}}]}
Y
want "condition met" kubectl wait --for=condition=PodScheduled pod/fits --timeout=30s
same "n1" kubectl get pod fits -o 'jsonpath={.spec.nodeName}'
eventually want "1 Insufficient cpu" kubectl get events --field-selector involvedObject.name=big
want "Unschedulable" kubectl get pod big -o 'jsonpath={.status.conditions[0].reason}'
want "kube-scheduler" kubectl -n kube-system get lease
lacks "Failed to watch" cat "$dir/scheduler.log"
all_good
