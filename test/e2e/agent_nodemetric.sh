#!/usr/bin/env bash
# The agent as a process against our API server, watched through a stock kubectl: it reports the node, publishes the
# topology, comes back after kill -9 with its history, and serves health and metrics.
source "$(dirname "$0")/lib/agent.sh"
command -v curl >/dev/null || { echo "skipped: no curl"; exit 77; }

start
kubectl apply -f - >/dev/null <<'YAML'
apiVersion: v1
kind: Node
metadata: {name: n1}
---
apiVersion: slo.koordinator.sh/v1alpha1
kind: NodeMetric
metadata: {name: n1}
spec: {metricCollectPolicy: {reportIntervalSeconds: 30}}
YAML

ops=$(python3 -c 'import socket; s=socket.socket(); s.bind(("127.0.0.1",0)); print(s.getsockname()[1])')
history=$dir/history
# A container runtime that only listens: the agent, with no flag but where the socket is, must introduce itself.
python3 - "$dir/nri.sock" >"$dir/nri.seen" <<'P' &
import socket, sys
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen()
print("koordlet_nri" if b"koordlet_nri" in server.accept()[0].recv(4096) else "a stranger", flush=True)
P
helpers=$!
run_agent() { start_agent --runtime-hooks-nri-socket-path "$dir/nri.sock"; }
page() { curl -sf "127.0.0.1:$ops/$1"; }
soon() {  # soon WHAT COMMAND…: it succeeds within half a minute
  local what=$1 i
  shift
  for i in $(seq 150); do "$@" >/dev/null 2>&1 && return 0; sleep 0.2; done
  echo "FAILED: $what"
  cat "$dir/agent.out"
  exit 1
}
reported() { [ -n "$(kubectl get nodemetric n1 -o jsonpath='{.status.nodeMetric.nodeUsage.resources.cpu}')" ]; }
published() { kubectl get noderesourcetopologies n1 -o jsonpath='{.zones[0].name}' | grep -q node-0; }

run_agent
soon "the agent is ready" page readyz
soon "it reports a NodeMetric" reported
soon "it publishes a NodeResourceTopology" published
soon "it registers with the runtime" grep -q koordlet_nri "$dir/nri.seen"
for name in koordlet_node_used_cpu_cores koordlet_start_time mangrove_agent_tick_seconds_count; do
  want "$name" page metrics
done

kill_agent
run_agent
soon "it is ready after kill -9" page readyz
soon "it has its history back" grep -q "history restored" "$dir/err"
kill "$agent"
wait "$agent" || { echo "FAILED: the agent did not stop in order"; cat "$dir/agent.out"; exit 1; }
agent=
all_good
