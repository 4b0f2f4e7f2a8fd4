#!/usr/bin/env bash
# The loop closed in one process: a service and batch work run as processes in cgroups, what is for sale comes from a measured
# NodeMetric, and the agent inside `up` limits the batch work. A clean end gives every group back what it had; a killed `up`
# leaves the limit, and its successor takes it over.
source "$(dirname "$0")/lib/up.sh"
cpu=/sys/fs/cgroup/cpu/$group/kubepods
[ -d /sys/fs/cgroup/cpu ] || cpu=/sys/fs/cgroup/$group/kubepods
quota() { cat "$cpu/besteffort/cpu.cfs_quota_us" 2>/dev/null || cut -d' ' -f1 "$cpu/besteffort/cpu.max" | sed s/max/-1/; }
idle() { cat "$cpu/besteffort/pod$1/cpu.idle"; }
limited() {  # what `up` sells at most is 80 % of the machine
  local q
  q=$(quota)
  [ "$q" -gt 0 ] && [ "$q" -le $(($(nproc) * 80000)) ] && echo limited
}
is() { [ "$("${@:2}")" = "$1" ] && echo yes; }

up_start --keep-pods
kubectl apply -f - >/dev/null <<'Y' || fail "the service was refused"
apiVersion: v1
kind: Pod
metadata: {name: service, labels: {koordinator.sh/qosClass: LS}}
spec: {nodeName: n1, terminationGracePeriodSeconds: 1, containers: [{name: c, image: x, command: [sh, -c, "while :; do sleep 0.05; done"], resources: {requests: {cpu: 100m}}}]}
Y
kubectl apply -f - >/dev/null <<'Y' || fail "the batch pod was refused"
apiVersion: v1
kind: Pod
metadata: {name: batch, labels: {koordinator.sh/qosClass: BE}}
spec:
  nodeName: n1
  terminationGracePeriodSeconds: 1
  priorityClassName: koord-batch
  containers:
  - name: c
    image: x
    command: [sh, -c, "while :; do :; done"]
    resources: {requests: {kubernetes.io/batch-cpu: "100"}, limits: {kubernetes.io/batch-cpu: "2000"}}
Y
want "Running" state batch .status.phase
want "Running" state service .status.phase
uid=$(kubectl get pod batch -o 'jsonpath={.metadata.uid}')
want "cpu" kubectl get nodemetric n1 -o 'jsonpath={.status.nodeMetric.nodeUsage.resources}'
want "kubernetes.io/batch-cpu" kubectl get node n1 -o 'jsonpath={.status.allocatable}'
want limited limited
if [ -e "$cpu/besteffort/cpu.idle" ]; then
  want yes is 1 idle "$uid"
  want yes is 0 cat "$cpu/besteffort/cpu.idle"
fi

# The kill switch gives everything back, and lets go of it again.
kubectl label node n1 node.mangrove.io/enforcement=off >/dev/null
want yes is -1 quota
kubectl label node n1 node.mangrove.io/enforcement- >/dev/null
want limited limited

# Killed: the limit stays, and the successor goes on with it.
kill -9 "$up_pid"; wait "$up_pid" 2>/dev/null
want limited limited
up_start --keep-pods
sleep 3
want limited limited

# A clean end that leaves the pods leaves them as they were.
up_stop
want yes is -1 quota
[ ! -e "$cpu/besteffort/cpu.idle" ] || want yes is 0 idle "$uid"
up_start
want "Running" state batch .status.phase
