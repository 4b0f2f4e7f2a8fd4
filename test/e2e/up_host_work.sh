#!/usr/bin/env bash
# Work outside of pods counts as a service: as many spinning processes as CPUs keep at least 97 % of the CPU time they have alone while
# best-effort pods spin beside them, with and without a service; and batch work gets at least 95 % of the machine when nobody else wants it.
# Compared by turns of a second and a half (the pods' processes are stopped in every other one), so that a busy machine disturbs both alike.
source "$(dirname "$0")/lib/up.sh"
cpu=/sys/fs/cgroup/cpu/$group
[ -d /sys/fs/cgroup/cpu ] || cpu=/sys/fs/cgroup/$group
cpus=$(nproc)
spinners=
leave() {
  kill -CONT $(pods) 2>/dev/null
  [ -z "$spinners" ] || { kill -9 $spinners; wait $spinners; } 2>/dev/null
  rmdir "$cpu/host" 2>/dev/null
}
trap 'leave; finish' EXIT

batch() {
  kubectl apply -f - >/dev/null <<Y || fail "the batch pod was refused"
apiVersion: v1
kind: Pod
metadata: {name: batch$1, labels: {koordinator.sh/qosClass: BE}}
spec:
  nodeName: n1
  terminationGracePeriodSeconds: 1
  priorityClassName: koord-batch
  containers:
  - {name: c, image: x, command: [sh, -c, "while :; do :; done"], resources: {requests: {kubernetes.io/batch-cpu: "50"}, limits: {kubernetes.io/batch-cpu: "${cpus}000"}}}
Y
}
pods() { cat $(find "$cpu/kubepods-besteffort" -mindepth 2 -name cgroup.procs 2>/dev/null) 2>/dev/null; }
used() {  # used PID…: clock ticks so far
  local pid sum=0
  for pid in "$@"; do sum=$((sum + $(awk '{print $14 + $15}' "/proc/$pid/stat" 2>/dev/null || echo 0))); done
  echo $sum
}
turn() {  # turn SIGNAL: what the spinners use in a second and a half with the pods so
  local before
  kill -"$1" $(pods) 2>/dev/null
  sleep 0.3
  before=$(used $spinners)
  sleep 1.5
  echo $(($(used $spinners) - before))
}
kept() {  # kept: the middle one of five pairs of turns, in per cent of what the spinners have alone
  local alone beside
  for _ in 1 2 3 4 5; do
    alone=$(turn STOP) beside=$(turn CONT)
    echo $((beside * 100 / (alone > 0 ? alone : 1)))
  done | sort -n | sed -n 3p
}
# A stranger's burst on the machine spoils one series, not four; a fault of ours spoils all.
compare() {
  local got
  for _ in 1 2 3 4; do
    got=$(kept)
    echo "$name: $1: work outside of pods kept $got %"
    [ "$got" -lt 97 ] || return 0
  done
  fail "$1: work outside of pods kept $got %, want 97 or more"
}

up_start
[ -e "$cpu/kubepods-besteffort/cpu.idle" ] || skip "this kernel has no idle class: pressure decides, after seconds"
for i in $(seq "$cpus"); do batch "$i"; done
for i in $(seq "$cpus"); do want "Running" state "batch$i" .status.phase; done
idle() { cat "$cpu/kubepods-besteffort/cpu.idle"; }
want 1 idle
# In its first seconds, before it knows the machine, the agent holds batch work to little.
unlimited() { grep -qE '^(-1|max)' "$cpu/kubepods-besteffort/cpu.cfs_quota_us" "$cpu/kubepods-besteffort/cpu.max" 2>/dev/null && echo unlimited; }
want "unlimited" unlimited

# Nobody else wants the machine: what batch work gets is what all of it could get in the same time.
share() {
  local before started strangers got busy whole
  before=$(used $(pods)) started=$(date +%s%N) strangers=$(awk '/^cpu /{print $2 + $3 + $4 + $7 + $8 + $9}' /proc/stat)
  sleep 3
  got=$(($(used $(pods)) - before)) busy=$(($(awk '/^cpu /{print $2 + $3 + $4 + $7 + $8 + $9}' /proc/stat) - strangers))
  whole=$((($(date +%s%N) - started) * cpus / 10000000 - (busy - got)))  # less what strangers and the machine's host took
  echo $((got * 100 / whole))
}
for _ in 1 2 3 4; do
  got=$(share)
  echo "$name: batch work alone: $got %"
  [ "$got" -lt 95 ] || break
done
[ "$got" -ge 95 ] || fail "batch work got $got % of an idle machine, want 95 or more"

mkdir -p "$cpu/host"
for _ in $(seq "$cpus"); do
  sh -c "echo \$\$ >$cpu/host/cgroup.procs; while :; do :; done" &
  spinners="$spinners $!"
done
compare "without a service"
kubectl apply -f - >/dev/null <<'Y' || fail "the service was refused"
apiVersion: v1
kind: Pod
metadata: {name: service, labels: {koordinator.sh/qosClass: LS}}
spec: {nodeName: n1, terminationGracePeriodSeconds: 1, containers: [{name: c, image: x, command: [sh, -c, "while :; do sleep 0.05; done"], resources: {requests: {cpu: 100m}}}]}
Y
want "Running" state service .status.phase
compare "with a service"
