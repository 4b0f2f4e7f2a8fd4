#!/usr/bin/env bash
# The loop closed in one process: a service and batch work run as processes in cgroups, what is for sale comes from a measured
# NodeMetric, and the agent inside `up` holds the batch work: the kernel's idle class first, a quota only while services wait
# (or where the kernel has no such class). A clean end gives every group back what it had; a killed `up` leaves batch work held
# and its guardian limits it; the successor takes over.
source "$(dirname "$0")/lib/up.sh"
cpu=/sys/fs/cgroup/cpu/$group/kubepods
[ -d /sys/fs/cgroup/cpu ] || cpu=/sys/fs/cgroup/$group/kubepods
quota() { cat "$cpu-besteffort/cpu.cfs_quota_us" 2>/dev/null || cut -d' ' -f1 "$cpu-besteffort/cpu.max" | sed s/max/-1/; }
shares() { cat "$cpu-besteffort/cpu.shares" 2>/dev/null || cat "$cpu-besteffort/cpu.weight"; }
idle() { cat "$cpu-besteffort/cpu.idle"; }
limited() {  # what `up` lets batch work have at most is 95 % of the machine
  local q
  q=$(quota)
  [ "$q" -gt 0 ] && [ "$q" -le $(($(nproc) * 95000)) ] && echo limited
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
has_idle=
[ ! -e "$cpu-besteffort/cpu.idle" ] || has_idle=1
held() {
  if [ -n "$has_idle" ]; then [ "$(idle)" = 1 ] && echo held; else limited | sed s/limited/held/; fi
}
freed() {
  [ "$(quota)" = -1 ] || return 0
  [ -z "$has_idle" ] || { [ "$(idle)" = 0 ] && [ "$(shares)" = "$1" ]; } || return 0
  echo freed
}
least=2
[ -e "$cpu-besteffort/cpu.shares" ] || least=1
want held held

# The kill switch gives everything back, and lets go of it again.
kubectl label node n1 node.mangrove.io/enforcement=off >/dev/null
want freed freed $least
kubectl label node n1 node.mangrove.io/enforcement- >/dev/null
want held held

# Killed: batch work stays held and the guardian limits it; the successor goes on with it.
kill -9 "$up_pid"; wait "$up_pid" 2>/dev/null
want limited limited
want held held
up_start --keep-pods
sleep 3
want held held

# A clean end that leaves the pods leaves them as they were.
up_stop
want freed freed $least
up_start
want "Running" state batch .status.phase
