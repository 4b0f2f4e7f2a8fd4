#!/usr/bin/env bash
# The API server goes away (kill -9) for AWAY seconds (default 24; make it 300 for the long one) while the agent is killed and started again
# four times: at no moment has best-effort work more than before, the pod's own limit stays, nobody is evicted; when the server is back
# reports resume and suppression goes on. An hour of the same in made time: agent_test, Outage.* and Enforcement.AnEviction*.
source "$(dirname "$0")/lib/agent.sh"
use_cgroups
away=${AWAY:-24}
quota() { cat "$cgroup/cpu/$tree/kubepods/besteffort/cpu.cfs_quota_us"; }
limit() { cat "$cgroup/memory/$tree/kubepods/besteffort/pod$uid/memory.limit_in_bytes"; }
limited() { [ "$(quota)" -gt 0 ] && echo limited; }
reported() { kubectl get nodemetric n1 -o 'jsonpath={.status.updateTime}'; }
run() { start_agent --state-dir "$dir/kept" --enable-nri-runtime-hook=false --feature-gates=BEMemoryEvict=true; }
heartbeat=$dir/heartbeat
leftovers() { pgrep -f "agent guardian --heartbeat $dir/" || true; }

start
make_node
kubectl create -f - >/dev/null <<'Y'
apiVersion: slo.koordinator.sh/v1alpha1
kind: NodeMetric
metadata: {name: n1}
spec: {metricCollectPolicy: {aggregateDurationSeconds: 60, reportIntervalSeconds: 30}}
Y
make_job '{requests: {kubernetes.io/batch-cpu: "500", kubernetes.io/batch-memory: 1Gi}, limits: {kubernetes.io/batch-cpu: "1000", kubernetes.io/batch-memory: 1Gi}}' 'koordinator.sh/priority-class: koord-batch'
threshold "enable: true, cpuSuppressThresholdPercent: 1, cpuSuppressPolicy: cfsQuota, memoryEvictThresholdPercent: 99"
burn "kubepods/besteffort/pod$uid"
run
eventually want limited limited
eventually same 1073741824 limit
eventually want T reported
sleep 2
before=$(quota) last=$(reported)

kill -9 "$server"; wait "$server" 2>/dev/null || true
begun=$(date +%s) looks=0 lives=1
while [ $(($(date +%s) - begun)) -lt "$away" ]; do
  now=$(quota)
  [ "$now" -gt 0 ] && [ "$now" -le "$before" ] || { echo "after $(($(date +%s) - begun)) s without the server the quota was $now, before $before"; exit 1; }
  [ "$(limit)" = 1073741824 ] || { echo "the pod's limit became $(limit)"; exit 1; }
  looks=$((looks + 1))
  if [ $(($(date +%s) - begun)) -ge $((lives * away / 5)) ]; then kill_agent; run; lives=$((lives + 1)); fi
  sleep 0.1
done
echo "$away s without the server, $((lives - 1)) restarts: $looks looks, the quota never above $before"

start "$port"
resumed() { [ "$(reported)" != "$last" ] && echo resumed; }
for _ in $(seq 10); do (eventually want resumed resumed) >/dev/null 2>&1 && break; done
want resumed resumed
echo "the first report came $(($(date +%s) - begun - away)) s after the server"
same job kubectl get pod job -o 'jsonpath={.metadata.name}'
same "" kubectl get events -o 'jsonpath={.items[?(@.reason=="evictPodSuccess")].reason}'
want limited limited
threshold "enable: false"
eventually same -1 quota
stop_agent
all_good
