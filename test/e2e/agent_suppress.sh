#!/usr/bin/env bash
# The agent against `mangrove apiserver` in a cgroup tree of its own: a NodeSLO that enables suppression puts a real quota on
# the best-effort group, batch pods get their limits and the idle class, the kill switch and a clean exit give everything
# back, and so does --restore after a kill -9.
source "$(dirname "$0")/lib/agent.sh"
use_cgroups
value() { cat "$cgroup/$1/$tree/kubepods/$2"; }
be=besteffort/cpu.cfs_quota_us
limited() {  # a quota below 65 % of the machine is in force
  local q
  q=$(value cpu $be)
  [ "$q" -gt 0 ] && [ "$q" -le $(($(nproc) * 65000)) ] && echo limited
}
colocation() { threshold "enable: $1, cpuSuppressThresholdPercent: 65, cpuSuppressPolicy: cfsQuota"; }

start
make_node
make_job '{requests: {kubernetes.io/batch-cpu: "500", kubernetes.io/batch-memory: 64Mi}, limits: {kubernetes.io/batch-cpu: "1000", kubernetes.io/batch-memory: 64Mi}}' \
  'koordinator.sh/priority-class: koord-batch'
burn "kubepods/besteffort/pod$uid"

# Says what it would do, and does nothing.
colocation true
start_agent --dry-run
sleep 4
same -1 value cpu $be
stop_agent

start_agent
eventually want limited limited
eventually same 1 value cpu "besteffort/pod$uid/cpu.idle"
eventually same 67108864 value memory "besteffort/pod$uid/memory.limit_in_bytes"
same 0 value cpu besteffort/cpu.idle
same -1 value cpu "besteffort/pod$uid/cpu.cfs_quota_us"

# Off by configuration, on again, off by the kill switch.
colocation false
eventually same -1 value cpu $be
eventually same 0 value cpu "besteffort/pod$uid/cpu.idle"
colocation true
eventually want limited limited
kubectl label node n1 node.mangrove.io/enforcement=off >/dev/null
eventually same -1 value cpu $be
kubectl label node n1 node.mangrove.io/enforcement- >/dev/null
eventually want limited limited

# Killed: the limit stays. Restored by hand, and taken over by a successor.
kill_agent
want limited limited
want "kubepods/besteffort cpu.cfs_quota_us" "$mangrove" agent --restore --cgroup-parent $tree --cgroup-driver cgroupfs \
  --enforce-state "$dir/enforce.json"
same -1 value cpu $be
start_agent
eventually want limited limited
kill_agent
start_agent
sleep 3
want limited limited

# A clean exit leaves nothing behind.
stop_agent
same -1 value cpu $be
same 0 value cpu "besteffort/pod$uid/cpu.idle"
all_good
