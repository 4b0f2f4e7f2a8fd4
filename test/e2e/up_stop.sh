#!/usr/bin/env bash
# Told to end at any moment of its start, `up` ends: within seconds, with 0, and with nothing left. STARTS=50 is the long run.
source "$(dirname "$0")/lib/up.sh"
command -v python3 >/dev/null || skip "there is no python3"
up_once() {  # up_once SECONDS [FLAGS…]: told to end so long after its start
  local after=$1 code=; shift
  "$mangrove" up --data-dir "$dir/state" --port 0 --node-name n1 --cgroup-root "$group" --bridge "$bridge" \
    --pod-subnet "$subnet" --dashboard 127.0.0.1:0 "$@" >"$dir/out" 2>"$dir/log" &
  up_pid=$!
  sleep "$after"
  kill -TERM "$up_pid" 2>/dev/null
  for _ in $(seq 150); do
    [ "$(ps -o stat= -p "$up_pid" 2>/dev/null | cut -c1)" = Z ] && break
    kill -0 "$up_pid" 2>/dev/null || break
    sleep 0.1
  done
  if [ "$(ps -o stat= -p "$up_pid" 2>/dev/null | cut -c1)" != Z ] && kill -0 "$up_pid" 2>/dev/null; then
    fail "up did not end within 15 s of SIGTERM $after s after its start"
    cat "$dir/log"
    kill -9 "$up_pid"
  fi
  wait "$up_pid" 2>/dev/null; code=$?
  up_pid=
  # In its first milliseconds a process has no say in how it ends.
  [ "$code" -eq 0 ] || [ "$code" -eq 143 ] || { fail "up ended with $code when told to $after s after its start"; cat "$dir/log"; }
}

for i in $(seq "${STARTS:-10}"); do
  up_once "0.$(printf %03d $((RANDOM % 500)))"
done

# Pods of an earlier `up` that was killed end with the next one, however short its life.
up_start --without koordlet
pod steady 'containers: [{name: main, image: x, command: [sleep, "7777777"]}]'
want "Running" state steady .status.phase
kill -9 "$up_pid"; wait "$up_pid" 2>/dev/null
[ -n "$(shim_pids)" ] || fail "the pod did not outlive up"
for _ in $(seq 5); do
  up_once 0.25
  grep -q "role up" "$dir/log" && [ -z "$(shim_pids)" ] && break
done
[ -z "$(shim_pids)" ] || fail "pods go on after up was told to end"
