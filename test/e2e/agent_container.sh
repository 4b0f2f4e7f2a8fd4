#!/usr/bin/env bash
# The agent in a container: a mount namespace of its own, the host below --root, state in a folder of the host. It limits and repairs
# through its mounts; killed, the limit stays; recreated with an empty root and the same folder it knows its history and goes on.
source "$(dirname "$0")/lib/agent.sh"
use_cgroups
be=$cgroup/cpu/$tree/kubepods/besteffort/cpu.cfs_quota_us
quota() { cat "$be"; }
limited() { [ "$(quota)" -gt 0 ] && echo limited; }
leftovers() { pgrep -f "agent guardian --heartbeat /state/heartbeat --root /host" || true; }
mkdir -p "$dir/root" "$dir/kept" "$dir/nri" "$dir/kubelet"
contain() {
  unshare --mount --propagation private sh "$(dirname "$0")/lib/contained.sh" "$dir/root" "$dir/kept" "$dir/nri" "$dir/kubelet" \
    "$(readlink -f "$mangrove")" "$KUBECONFIG" --node-name n1 --addr 127.0.0.1:0 --cgroup-parent "$tree" --cgroup-driver cgroupfs \
    >>"$dir/agent.out" 2>>"$dir/err" &
  agent=$!
}
said() { cat "$dir/agent.out" "$dir/err"; }
restored() { said | grep -c "history restored"; }
kept() { ls "$dir/kept"; }

start
make_node
make_job '{requests: {kubernetes.io/batch-cpu: "500"}, limits: {kubernetes.io/batch-cpu: "1000"}}' 'koordinator.sh/priority-class: koord-batch'
threshold "enable: true, cpuSuppressThresholdPercent: 1, cpuSuppressPolicy: cfsQuota"
burn "kubepods/besteffort/pod$uid"
contain
eventually want limited limited
eventually want enforce.json kept

# Somebody else lifts the limit: heard of by inotify, not at the next tick.
before=$(quota) begun=$(date +%s%N)
echo -1 >"$be"
for _ in $(seq 200); do [ "$(quota)" = "$before" ] && break; sleep 0.005; done
echo "a foreign write was repaired after $((($(date +%s%N) - begun) / 1000000)) ms"
same "$before" quota

kill_agent
want limited limited
contain
eventually want 1 restored
want limited limited
kubectl label node n1 node.mangrove.io/enforcement=off >/dev/null
eventually want -1 quota
kubectl label node n1 node.mangrove.io/enforcement- >/dev/null
eventually want limited limited
stop_agent
same -1 quota
all_good
