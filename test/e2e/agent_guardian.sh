#!/usr/bin/env bash
# Who looks after best-effort work when the agent cannot: killed with -9 under full suppression the limit never grows beyond the
# safe one, not even when somebody else lifts it; hanging (SIGSTOP) likewise; a successor takes over without a write that is not
# needed; the kill switch gives everything back within two seconds; a guardian beside the agent does the same as a child.
source "$(dirname "$0")/lib/agent.sh"
use_cgroups unified
heartbeat=$dir/heartbeat
be=$cgroup/cpu/$tree/kubepods/besteffort/cpu.cfs_quota_us
quota() { cat "$be"; }
cpus=$(nproc)
safe=$((cpus * 50000 < 250000 ? cpus * 50000 : 250000))  # half of a small machine, 2.5 CPUs of a large one
within() {  # the limit is there and not above the safe one
  local q
  q=$(quota)
  [ "$q" -gt 0 ] && [ "$q" -le "$safe" ] && echo within
}
guardian() { pgrep -f "agent guardian --heartbeat $dir/heartbeat --root / --pipe" || true; }
leftovers() { guardian; }
guardians() { guardian | wc -l; }
parent() { ps -o ppid= -p "$(guardian)"; }
metrics() {
  exec 3<>/dev/tcp/127.0.0.1/$ops
  printf 'GET /metrics HTTP/1.0\r\nHost: x\r\n\r\n' >&3
  timeout 2 cat <&3
}

start
make_node
make_job '{requests: {kubernetes.io/batch-cpu: "500"}, limits: {kubernetes.io/batch-cpu: "1000"}}' 'koordinator.sh/priority-class: koord-batch'
# A threshold of 1 % is the least quota there is on two CPUs: best-effort work is suppressed as far as it goes even on an idle machine.
threshold "enable: true, cpuSuppressThresholdPercent: 1, cpuSuppressPolicy: cfsQuota"
burn "kubepods/besteffort/pod$uid"

start_agent
eventually want within within
eventually want "$agent" parent

# Killed: the limit stays where it was, and a successor takes over without writing it again. (The memory that the guardian held
# meanwhile is given back, which is a write.)
before=$(quota)
kill_agent
same "$before" quota
ops=$((20000 + RANDOM % 20000))
start_agent
eventually want "mangrove_agent_control_files" metrics
sleep 3
want within within
lacks 'resource_update_duration_milliseconds_count{type="cpu' metrics

# Killed again, and somebody else lifts the limit: it comes back to the safe one.
old=$(guardian)
kill_agent
echo -1 >"$be"
eventually want within within
same "$safe" quota

# The successor has a guardian of its own; the old one goes.
start_agent
eventually want within within
for _ in $(seq 50); do
  now=$(guardian)  # looked at once: between two looks the successor's may have come
  [ -n "$now" ] && [ "$now" != "$old" ] && [ "$(wc -l <<<"$now")" -eq 1 ] && break
  sleep 0.2
done
same 1 guardians

# Hanging: after five seconds of silence the guardian steps in.
kill -STOP "$agent"
echo -1 >"$be"
for _ in $(seq 40); do [ -n "$(within)" ] && break; sleep 0.25; done
same "$safe" quota
kill -CONT "$agent"
eventually want within within

# The kill switch: everything neutral within two seconds.
kubectl label node n1 node.mangrove.io/enforcement=off >/dev/null
for _ in $(seq 20); do [ "$(quota)" = -1 ] && break; sleep 0.1; done
same -1 quota
kubectl label node n1 node.mangrove.io/enforcement- >/dev/null
eventually want within within

# A clean exit takes the guardian with it and leaves nothing limited.
stop_agent
same -1 quota
sleep 1
same "" guardian

# Beside the agent instead of below it, as a container would be.
"$mangrove" agent guardian --heartbeat "$dir/heartbeat" --patience 3s >>"$dir/agent.out" 2>>"$dir/err" &
helpers="$helpers $!"
start_agent --guardian=false
eventually want within within
same "" guardian
kill_agent
echo -1 >"$be"
for _ in $(seq 40); do [ -n "$(within)" ] && break; sleep 0.25; done
same "$safe" quota
all_good
