#!/usr/bin/env bash
# kill -9 of the whole process: its pods go on, the next one finds them, and nothing was restarted that had not to be.
source "$(dirname "$0")/lib/up.sh"
up_start
pod steady 'containers: [{name: main, image: x, command: [sh, -c, "i=0; while :; do echo $i; i=$((i+1)); sleep 0.1; done"]}]'
pod crashing 'containers: [{name: main, image: x, command: [sh, -c, "sleep 1; exit 1"]}]'
pod job 'restartPolicy: Never, containers: [{name: main, image: x, command: [sh, -c, "sleep 8; exit 0"]}]'
pod doomed 'containers: [{name: main, image: x, command: [sleep, "1000"]}]'
want "Running" state steady .status.phase
want "Running" state doomed .status.phase
want "Running" state job .status.phase
id=$(state steady '.status.containerStatuses[0].containerID')
for round in 1 2 3; do
  kill -9 "$up_pid"; wait "$up_pid" 2>/dev/null
  lines=$(cat "$dir"/state/logs/*steady*/main/0.log | wc -l)
  # What a pod left that had no cgroup any more concerns nobody else on this machine.
  mkdir -p "$dir/state/pods/1111-$round/run"
  printf ghost >"$dir/state/addresses/${subnet%.0/24}.20$round"
  sleep 1000 & bystander=$!
  sleep 1
  [ "$(cat "$dir"/state/logs/*steady*/main/0.log | wc -l)" -gt "$lines" ] || fail "the pod stood still without up"
  : >"$dir/out"
  up_start
  want "Running" state steady .status.phase
  [ "$(state steady '.status.containerStatuses[0].containerID')" = "$id" ] || fail "round $round: another container"
  [ "$(state steady '.status.containerStatuses[0].restartCount')" = 0 ] || fail "round $round: it was restarted"
  want "removing what is left of pod 1111-$round" cat "$dir/log"
  for _ in $(seq 40); do [ -e "$dir/state/pods/1111-$round" ] || break; sleep 0.1; done
  [ -e "$dir/state/pods/1111-$round" ] && fail "what a pod left is still there"
  [ -e "$dir/state/addresses/${subnet%.0/24}.20$round" ] && fail "the address of a pod that is gone is still taken"
  kill "$bystander" || fail "somebody else's process was killed"
  wait "$bystander" 2>/dev/null
done
want "Succeeded" state job .status.phase
# Killed after it had said how a pod ended and before it had cleared up: the next one does, and says nothing else.
kill -9 "$up_pid"; wait "$up_pid" 2>/dev/null
uid=$(basename "$(ls -d "$dir"/state/logs/*_job_*)"); uid=${uid##*_}
mkdir -p "$dir/state/pods/$uid/run"
printf '%s' "$uid" >"$dir/state/addresses/${subnet%.0/24}.210"
: >"$dir/out"
up_start
for _ in $(seq 40); do [ -e "$dir/state/pods/$uid" ] || [ -e "$dir/state/addresses/${subnet%.0/24}.210" ] || break; sleep 0.1; done
[ -e "$dir/state/pods/$uid" ] && fail "the directory of a pod that had ended is still there"
[ -e "$dir/state/addresses/${subnet%.0/24}.210" ] && fail "the address of a pod that had ended is still taken"
[ "$(state job .status.phase)" = Succeeded ] || fail "a pod that had ended is now $(state job .status.phase)"
want "deleted" kubectl delete pod doomed
kubectl exec steady -- true || fail "no exec after the restart"
want "deleted" kubectl delete pods --all
