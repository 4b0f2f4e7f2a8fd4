#!/usr/bin/env bash
# Eviction by a running agent against `mangrove apiserver`: in a dry run nobody goes; otherwise the pod
# goes with an Event, and a condition stays on the node that outlives a killed agent; `mangrove explain` shows what the
# agent holds.
source "$(dirname "$0")/lib/agent.sh"
use_cgroups
node() { kubectl get node n1 -o "jsonpath=$1"; }

start
make_node
make_job '{}' 'app: job'
kubectl patch pod job --subresource=status --type=merge -p '{"status":{"phase":"Running","qosClass":"BestEffort","conditions":[{"type":"Ready","status":"True"}]}}' >/dev/null
# Holds some memory of its own.
sh -c "for c in $controllers; do echo \$\$ >$cgroup/\$c/$tree/kubepods/besteffort/pod$uid/cgroup.procs; done; x=\$(head -c 30000000 /dev/zero | tr '\\0' x); sleep 300" &
helpers=$!
threshold "enable: true, memoryEvictThresholdPercent: 1, memoryEvictLowerPercent: 0, cpuSuppressPolicy: cfsQuota"

bearer="Authorization: Bearer $(cut -d, -f1 "$dir/data/tokens.csv")"  # its pages are for those who may see them
ops=$((20000 + $$ % 20000))
run_agent() {
  start_agent --enable-nri-runtime-hook=false --guardian=false --audit-log-dir "$dir/audit" \
    --feature-gates=BEMemoryEvict=true,MemoryGiveBack=false,AuditEvents=true,AuditEventsHTTPHandler=true "$@"
}

# A dry run says whom it would evict, and nobody goes.
run_agent --dry-run
eventually want dry-run curl -sf -H "$bearer" "http://127.0.0.1:$ops/events"
same job kubectl get pod job -o 'jsonpath={.metadata.name}'
stop_agent

# What the agent holds, with reasons.
run_agent --dry-run-strategies=memory-evict
eventually want "cpu.cfs_quota_us" curl -sf -H "$bearer" "http://127.0.0.1:$ops/controls"
eventually want "cpu-suppress since" "$mangrove" explain node n1 --agent 127.0.0.1:$ops
want "was -1" "$mangrove" explain node n1 --agent 127.0.0.1:$ops
eventually want "cpu.idle" "$mangrove" explain pod job --agent 127.0.0.1:$ops
want '"controls"' "$mangrove" explain node n1 --agent 127.0.0.1:$ops -o json
want "Controls: not known" "$mangrove" explain node n1 --agent 127.0.0.1:1
stop_agent

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
kill_agent
run_agent
eventually want ticked ticked
sleep 2
same True paused
kubectl label node n1 node.mangrove.io/enforcement=off >/dev/null
eventually same False paused
want Recovered node '{.status.conditions[?(@.type=="colocation.mangrove.io/BestEffortPaused")].reason}'
kubectl label node n1 node.mangrove.io/enforcement- >/dev/null
stop_agent

# Where a taint is asked for it comes beside the condition.
run_agent --cooldown-taint=NoSchedule
eventually want "colocation.mangrove.io/colocation-cooldown" node '{.spec.taints[*].key}'
all_good
