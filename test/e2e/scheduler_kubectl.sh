#!/usr/bin/env bash
# `mangrove scheduler` as a person with a stock kubectl meets it: pods get nodes, those that do not say why in condition
# and Event in Kubernetes' words; gates, taints, priorities and preemption; explain, with and without a pod.
source "$(dirname "$0")/lib/apiserver.sh"
source "$(dirname "$0")/lib/scheduler.sh"
start
trap 'code=$?; stop_schedulers; finish $code' EXIT
make_node n1 4 "disk: ssd"
make_node n2 2
make_node n3 4 "" 'taints: [{key: only, value: gpu, effect: NoSchedule}]'
start_scheduler one --leader-elect=false

make_pod fits 1
eventually same n1 node_of fits
eventually want "Successfully assigned default/fits to n1" kubectl get events --field-selector involvedObject.name=fits

# Why not, in condition and Event alike.
make_pod big 10
why="0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
eventually same "$why" condition_of big
same "Unschedulable" kubectl get pod big -o 'jsonpath={.status.conditions[?(@.type=="PodScheduled")].reason}'
eventually want "$why" kubectl get events --field-selector involvedObject.name=big,reason=FailedScheduling
same Warning kubectl get events --field-selector involvedObject.name=big,reason=FailedScheduling -o 'jsonpath={.items[0].type}'

# The same for whoever asks with an object; the answer changes with the cluster.
kubectl apply -f - >/dev/null <<'Y'
apiVersion: scheduling.koordinator.sh/v1alpha1
kind: ScheduleExplanation
metadata: {name: why, labels: {scheduling.koordinator.sh/topology-key-to-explain: hostname}}
spec: {questionObjectKey: default/big}
Y
eventually same "$why" kubectl get scheduleexplanation why -o 'jsonpath={.status.failedMessage}'
same "n1 n2 n3" kubectl get scheduleexplanation why -o 'jsonpath={.status.detailedExplanation[*].topologyDomain}'
make_pod picky 1 'nodeSelector: {disk: tape}'
eventually want "2 node(s) didn't match Pod's node affinity/selector" condition_of picky
kubectl label node n2 disk=tape >/dev/null  # a node changes, the pod is tried again
eventually same n2 node_of picky

# Taints and tolerations.
make_pod tolerant 3 'tolerations: [{key: only, operator: Exists}], nodeSelector: {kubernetes.io/hostname: n3}'
eventually same n3 node_of tolerant

# Gates.
make_pod gated 100m 'schedulingGates: [{name: example.com/wait}]'
same SchedulingGated kubectl get pod gated -o 'jsonpath={.status.conditions[?(@.type=="PodScheduled")].reason}'
sleep 1
same "" node_of gated
want "waiting for scheduling gates: [example.com/wait]" "$mangrove" explain pod gated --kubeconfig "$KUBECONFIG"
kubectl patch pod gated --type=json -p '[{"op":"remove","path":"/spec/schedulingGates"}]' >/dev/null
eventually want n node_of gated

# Preemption: the weak pod goes, the strong one comes, and both sides are told.
kubectl apply -f - >/dev/null <<'Y'
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: strong}
value: 1000
Y
kubectl delete pod fits big gated >/dev/null
make_pod weak 4 'nodeSelector: {disk: ssd}'
eventually same n1 node_of weak
make_pod mighty 4 'nodeSelector: {disk: ssd}, priorityClassName: strong'
eventually same n1 node_of mighty
refused NotFound kubectl get pod weak
eventually want "Preempted by pod" kubectl get events --field-selector involvedObject.name=weak,reason=Preempted

# Explanations.
want "it runs on n1" "$mangrove" explain pod mighty --kubeconfig "$KUBECONFIG"
cat >"$dir/pod.yaml" <<'Y'
apiVersion: v1
kind: Pod
metadata: {name: dreamed}
spec: {schedulerName: koord-scheduler, containers: [{name: c, image: i, resources: {requests: {cpu: 1500m}}}]}
Y
want "nearest miss: would fit on 1 node with 500m less cpu" "$mangrove" explain -f "$dir/pod.yaml" --kubeconfig "$KUBECONFIG"
refused NotFound kubectl get pod dreamed
sed -i 's/1500m/500m/' "$dir/pod.yaml"
want "fits on 1 of 3 nodes" "$mangrove" explain -f "$dir/pod.yaml" --kubeconfig "$KUBECONFIG"
want '"feasible": 1' "$mangrove" explain -f "$dir/pod.yaml" -o json --kubeconfig "$KUBECONFIG"
for file in "$(dirname "$0")"/../quickstart/*.yaml; do
  want "(koord-scheduler)" "$mangrove" explain -f "$file" --kubeconfig "$KUBECONFIG"
done
refused "explain -f FILE" "$mangrove" explain something

# Its own pages.
if command -v curl >/dev/null; then
  ops=$(ops_of one)
  bearer="Authorization: Bearer $(cut -d, -f1 "$dir/data/tokens.csv")"
  same 401 curl -s -o /dev/null -w '%{http_code}' "$ops/configz"
  same 401 curl -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer nobody" "$ops/apis/v1/nodes/n1"
  same ok curl -sf "$ops/healthz"
  want '/apis/v1/nodes/' curl -sf -H "$bearer" "$ops/apis/v1/__services__"
  want '"pods":["default/mighty"]' curl -sf -H "$bearer" "$ops/apis/v1/nodes/n1"
  want 'scheduler_schedule_attempts_total{result="scheduled",profile="koord-scheduler"}' curl -sf "$ops/metrics"
  want 'scheduler_pod_scheduling_feasible_nodes_bucket' curl -sf "$ops/metrics"
  want 'koord-scheduler' curl -sf -H "$bearer" "$ops/configz"
fi
refused "did you mean 'profiles'" "$mangrove" scheduler --kubeconfig "$KUBECONFIG" --config <(echo "profile: []")
all_good
