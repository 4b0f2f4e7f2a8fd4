#!/usr/bin/env bash
# Eviction by a running agent against `mangrove apiserver`: in a dry run nobody goes; otherwise the pod
# goes with an Event, and a condition stays on the node that outlives a killed agent; `mangrove explain` shows what the
# agent holds.
source "$(dirname "$0")/lib/apiserver.sh"
[ "$(id -u)" -eq 0 ] || { echo "skipped: needs root to make cgroups"; exit 77; }
cgroup=/sys/fs/cgroup
[ -d $cgroup/cpu ] || { echo "skipped: no cgroup v1 cpu controller at $cgroup/cpu"; exit 77; }
tree=mangrove-evict-$$
controllers="cpu cpuacct cpuset memory"
mkdir $cgroup/cpu/$tree 2>/dev/null || { echo "skipped: cannot make cgroups below $cgroup/cpu"; exit 77; }
agent=
holder=
clean() {  # leaves the exit code as it is
  local code=$?
  set +e
  # The holder's sleep would keep the test's output open.
  for p in $agent ${holder:+$(pgrep -P "$holder") $holder}; do kill -9 "$p" 2>/dev/null; done
  sleep 0.2
  for c in $controllers; do
    find $cgroup/$c/$tree -depth -type d -exec rmdir {} + 2>/dev/null
  done
  return "$code"
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
node() { kubectl get node n1 -o "jsonpath=$1"; }

start
kubectl create -f - >/dev/null <<Y
apiVersion: v1
kind: Node
metadata: {name: n1}
status:
  capacity: {cpu: "$(nproc)", memory: 4Gi, pods: "110"}
  allocatable: {cpu: "$(nproc)", memory: 4Gi, pods: "110"}
  addresses: [{type: InternalIP, address: 127.0.0.1}]
Y
kubectl create -f - >/dev/null <<'Y'
apiVersion: v1
kind: Pod
metadata: {name: job, namespace: default, labels: {app: job, koordinator.sh/qosClass: BE}}
spec:
  nodeName: n1
  terminationGracePeriodSeconds: 0
  automountServiceAccountToken: false
  containers: [{name: main, image: none}]
Y
kubectl patch pod job --subresource=status --type=merge -p '{"status":{"phase":"Running","qosClass":"BestEffort","conditions":[{"type":"Ready","status":"True"}]}}' >/dev/null
uid=$(kubectl get pod job -o 'jsonpath={.metadata.uid}')
group kubepods/burstable
group "kubepods/besteffort/pod$uid"
# Holds some memory of its own.
sh -c "for c in $controllers; do echo \$\$ >$cgroup/\$c/$tree/kubepods/besteffort/pod$uid/cgroup.procs; done; x=\$(head -c 30000000 /dev/zero | tr '\\0' x); sleep 300" &
holder=$!
kubectl apply -f - >/dev/null <<Y
apiVersion: slo.koordinator.sh/v1alpha1
kind: NodeSLO
metadata: {name: n1}
spec: {resourceUsedThresholdWithBE: {enable: true, memoryEvictThresholdPercent: 1, memoryEvictLowerPercent: 0, cpuSuppressPolicy: cfsQuota}}
Y

ops=$((20000 + $$ % 20000))
run_agent() {
  "$mangrove" agent --kubeconfig "$KUBECONFIG" --node-name n1 --cgroup-parent $tree --cgroup-driver cgroupfs --addr 127.0.0.1:$ops \
    --history-dir "" --prediction-checkpoint-filepath "$dir/models" --enforce-state "$dir/enforce.json" \
    --enable-nri-runtime-hook=false --guardian=false --heartbeat "" \
    --audit-log-dir "$dir/audit" --feature-gates=BEMemoryEvict=true,MemoryGiveBack=false,AuditEvents=true,AuditEventsHTTPHandler=true "$@" >>"$dir/agent.out" 2>>"$dir/err" &
  agent=$!
}

# A dry run says whom it would evict, and nobody goes.
run_agent --dry-run
eventually want dry-run curl -sf "http://127.0.0.1:$ops/events"
same job kubectl get pod job -o 'jsonpath={.metadata.name}'
kill "$agent"; wait "$agent" 2>/dev/null || true

# What the agent holds, with reasons.
run_agent --dry-run-strategies=memory-evict
eventually want "cpu.cfs_quota_us" curl -sf "http://127.0.0.1:$ops/controls"
eventually want "cpu-suppress since" "$mangrove" explain node n1 --agent 127.0.0.1:$ops
want "was -1" "$mangrove" explain node n1 --agent 127.0.0.1:$ops
eventually want "cpu.idle" "$mangrove" explain pod job --agent 127.0.0.1:$ops
want '"controls"' "$mangrove" explain node n1 --agent 127.0.0.1:$ops -o json
want "Controls: not known" "$mangrove" explain node n1 --agent 127.0.0.1:1
kill "$agent"; wait "$agent" 2>/dev/null || true

# The real thing: the pod goes by the Eviction API, with an Event; a condition says that nothing new should come. No
# taint, which would keep services out as well.
paused() { node '{.status.conditions[?(@.type=="colocation.mangrove.io/BestEffortPaused")].status}'; }
same "" paused
run_agent
gone() { kubectl get pod job >/dev/null 2>&1 || echo gone; }
eventually want gone gone
eventually want evictPodSuccess kubectl get events -o 'jsonpath={.items[*].reason}'
eventually same True paused
want PodsEvicted node '{.status.conditions[?(@.type=="colocation.mangrove.io/BestEffortPaused")].reason}'
same "" node '{.spec.taints}'

# A successor of a killed agent goes on with the pause; the kill switch ends it.
ticked() { curl -sf "http://127.0.0.1:$ops/metrics" | awk '/^mangrove_agent_control_files /{print "ticked"}'; }
kill -9 "$agent"; wait "$agent" 2>/dev/null || true
run_agent
eventually want ticked ticked
sleep 2
same True paused
kubectl label node n1 node.mangrove.io/enforcement=off >/dev/null
eventually same False paused
want Recovered node '{.status.conditions[?(@.type=="colocation.mangrove.io/BestEffortPaused")].reason}'
kubectl label node n1 node.mangrove.io/enforcement- >/dev/null
kill "$agent"; wait "$agent" 2>/dev/null || true

# Where a taint is asked for it comes beside the condition.
run_agent --cooldown-taint=NoSchedule
eventually want "colocation.mangrove.io/colocation-cooldown" node '{.spec.taints[*].key}'
all_good
