#!/usr/bin/env bash
# The agent against `mangrove apiserver` in a cgroup tree of its own: a NodeSLO that enables suppression puts a real quota on
# the best-effort group, batch pods get their limits and the idle class, the kill switch and a clean exit give everything
# back, and so does --restore after a kill -9.
source "$(dirname "$0")/lib/apiserver.sh"
[ "$(id -u)" -eq 0 ] || { echo "skipped: needs root to make cgroups"; exit 77; }
cgroup=/sys/fs/cgroup
[ -d $cgroup/cpu ] || { echo "skipped: no cgroup v1 cpu controller at $cgroup/cpu"; exit 77; }
tree=mangrove-e2e-$$
controllers="cpu cpuacct cpuset memory"
mkdir $cgroup/cpu/$tree 2>/dev/null || { echo "skipped: cannot make cgroups below $cgroup/cpu"; exit 77; }
agent=
burner=
clean() {
  set +e
  for p in $agent $burner; do kill -9 "$p" 2>/dev/null; done
  sleep 0.2
  for c in $controllers; do
    find $cgroup/$c/$tree -depth -type d -exec rmdir {} + 2>/dev/null
  done
}
trap 'clean; finish' EXIT

group() {  # group PATH: that cgroup in every controller
  for c in $controllers; do
    mkdir -p "$cgroup/$c/$tree/$1"
  done
  local at=$cgroup/cpuset/$tree
  for part in . ${1//\// }; do
    at=$at/$part
    cat $cgroup/cpuset/cpuset.cpus >"$at/cpuset.cpus"
    cat $cgroup/cpuset/cpuset.mems >"$at/cpuset.mems"
  done
}
value() { cat "$cgroup/$1/$tree/kubepods/$2"; }
be=besteffort/cpu.cfs_quota_us
limited() {  # a quota below 65 % of the machine is in force
  local q
  q=$(value cpu $be)
  [ "$q" -gt 0 ] && [ "$q" -le $(($(nproc) * 65000)) ] && echo limited
}
start_agent() {
  "$mangrove" agent --kubeconfig "$KUBECONFIG" --node-name n1 --cgroup-parent $tree --cgroup-driver cgroupfs --addr 127.0.0.1:0 \
    --history-dir "" --prediction-checkpoint-filepath "$dir/models" --enforce-state "$dir/enforce.json" "$@" \
    >>"$dir/agent.out" 2>>"$dir/err" &
  agent=$!
}
threshold() {
  kubectl apply -f - >/dev/null <<Y
apiVersion: slo.koordinator.sh/v1alpha1
kind: NodeSLO
metadata: {name: n1}
spec: {resourceUsedThresholdWithBE: {enable: $1, cpuSuppressThresholdPercent: 65, cpuSuppressPolicy: cfsQuota}}
Y
}

start
kubectl create -f - >/dev/null <<Y
apiVersion: v1
kind: Node
metadata: {name: n1}
status:
  capacity: {cpu: "$(nproc)", memory: 4Gi, pods: "110"}
  allocatable: {cpu: "$(nproc)", memory: 4Gi, pods: "110"}
Y
kubectl create -f - >/dev/null <<'Y'
apiVersion: v1
kind: Pod
metadata: {name: job, namespace: default, labels: {koordinator.sh/qosClass: BE, koordinator.sh/priority-class: koord-batch}}
spec:
  nodeName: n1
  automountServiceAccountToken: false
  containers:
  - name: main
    image: none
    resources:
      requests: {kubernetes.io/batch-cpu: "500", kubernetes.io/batch-memory: 64Mi}
      limits: {kubernetes.io/batch-cpu: "1000", kubernetes.io/batch-memory: 64Mi}
Y
uid=$(kubectl get pod job -o 'jsonpath={.metadata.uid}')
group kubepods/burstable
group "kubepods/besteffort/pod$uid"
sh -c "echo \$\$ >$cgroup/cpu/$tree/kubepods/besteffort/pod$uid/cgroup.procs; while :; do :; done" &
burner=$!

# Says what it would do, and does nothing.
threshold true
start_agent --dry-run
sleep 4
same -1 value cpu $be
kill "$agent"; wait "$agent" 2>/dev/null || true

start_agent
eventually want limited limited
eventually same 1 value cpu "besteffort/pod$uid/cpu.idle"
eventually same 67108864 value memory "besteffort/pod$uid/memory.limit_in_bytes"
same 0 value cpu besteffort/cpu.idle
same -1 value cpu "besteffort/pod$uid/cpu.cfs_quota_us"

# Off by configuration, on again, off by the kill switch.
threshold false
eventually same -1 value cpu $be
eventually same 0 value cpu "besteffort/pod$uid/cpu.idle"
threshold true
eventually want limited limited
kubectl label node n1 node.mangrove.io/enforcement=off >/dev/null
eventually same -1 value cpu $be
kubectl label node n1 node.mangrove.io/enforcement- >/dev/null
eventually want limited limited

# Killed: the limit stays. Restored by hand, and taken over by a successor.
kill -9 "$agent"; wait "$agent" 2>/dev/null || true
want limited limited
want "kubepods/besteffort cpu.cfs_quota_us" "$mangrove" agent --restore --cgroup-parent $tree --cgroup-driver cgroupfs \
  --enforce-state "$dir/enforce.json"
same -1 value cpu $be
start_agent
eventually want limited limited
kill -9 "$agent"; wait "$agent" 2>/dev/null || true
start_agent
sleep 3
want limited limited

# A clean exit leaves nothing behind.
kill "$agent"; wait "$agent" 2>/dev/null || true
same -1 value cpu $be
same 0 value cpu "besteffort/pod$uid/cpu.idle"
all_good
