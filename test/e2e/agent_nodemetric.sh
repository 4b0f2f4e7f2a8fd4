#!/usr/bin/env bash
# The agent as a process against our API server, watched through a stock kubectl: it reports the node, publishes the
# topology, comes back after kill -9 with its history, and serves health and metrics.
set -euo pipefail
bin=${MANGROVE:?MANGROVE must name the binary}
command -v kubectl >/dev/null || { echo "skipped: no kubectl"; exit 77; }
command -v curl >/dev/null || { echo "skipped: no curl"; exit 77; }
[ "$(id -u)" -eq 0 ] || { echo "skipped: needs root to read every cgroup"; exit 77; }

dir=$(mktemp -d)
pids=()
cleanup() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$dir"
}
trap cleanup EXIT
until_true() { # seconds command...
  local limit=$1
  shift
  for _ in $(seq $((limit * 5))); do "$@" && return 0; sleep 0.2; done
  return 1
}

"$bin" apiserver --data-dir "$dir/api" --port 0 >"$dir/api.log" 2>&1 &
pids+=($!)
until_true 20 test -f "$dir/api/kubeconfig" || { cat "$dir/api.log"; exit 1; }
export KUBECONFIG=$dir/api/kubeconfig
kubectl apply -f - >/dev/null <<'YAML'
apiVersion: v1
kind: Node
metadata: {name: e2e-node}
---
apiVersion: slo.koordinator.sh/v1alpha1
kind: NodeMetric
metadata: {name: e2e-node}
spec: {metricCollectPolicy: {reportIntervalSeconds: 30}}
YAML

port=$(python3 -c 'import socket; s=socket.socket(); s.bind(("127.0.0.1",0)); print(s.getsockname()[1])')
# A container runtime that only listens: the agent, with no flag but where the socket is, must introduce itself.
python3 - "$dir/nri.sock" >"$dir/nri.seen" <<'P' &
import socket, sys
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen()
print("koordlet_nri" if b"koordlet_nri" in server.accept()[0].recv(4096) else "a stranger", flush=True)
P
pids+=($!)
start_agent() {
  "$bin" agent --node-name e2e-node --addr "127.0.0.1:$port" --history-dir "$dir/history" \
    --prediction-checkpoint-filepath "$dir/models" --runtime-hooks-nri-socket-path "$dir/nri.sock" >>"$dir/agent.log" 2>&1 &
  agent=$!
  pids+=("$agent")
}
start_agent
ready() { curl -sf "127.0.0.1:$port/readyz" >/dev/null; }
reported() { [ -n "$(kubectl get nodemetric e2e-node -o jsonpath='{.status.nodeMetric.nodeUsage.resources.cpu}')" ]; }
until_true 20 ready || { echo "not ready: $(curl -s "127.0.0.1:$port/readyz")"; cat "$dir/agent.log"; exit 1; }
until_true 30 reported || { echo "no NodeMetric"; cat "$dir/agent.log"; exit 1; }
published() { kubectl get noderesourcetopologies e2e-node -o jsonpath='{.zones[0].name}' 2>/dev/null | grep -q node-0; }
until_true 20 published || { echo "no NodeResourceTopology"; cat "$dir/agent.log"; exit 1; }
until_true 20 grep -q koordlet_nri "$dir/nri.seen" || { echo "the agent did not register with the runtime: '$(cat "$dir/nri.seen")'"; exit 1; }
curl -s "127.0.0.1:$port/metrics" >"$dir/metrics"
for name in koordlet_node_used_cpu_cores koordlet_start_time mangrove_agent_tick_seconds_count; do
  grep -q "^$name" "$dir/metrics" || { echo "no series $name"; exit 1; }
done

kill -9 "$agent"
wait "$agent" 2>/dev/null || true
start_agent
until_true 20 ready || { cat "$dir/agent.log"; exit 1; }
until_true 20 grep -q "history restored" "$dir/agent.log" || { echo "history was not restored"; cat "$dir/agent.log"; exit 1; }
kill "$agent"
wait "$agent" || { echo "the agent did not stop in order"; cat "$dir/agent.log"; exit 1; }
echo "reported, published, restored, stopped"
