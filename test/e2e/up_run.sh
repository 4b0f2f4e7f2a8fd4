#!/usr/bin/env bash
# `mangrove run`: any command as a pod, and for its caller a command like any other.
source "$(dirname "$0")/lib/up.sh"
up_start
run() { "$mangrove" run --qos LS "$@"; }
code_is() {  # code_is CODE COMMAND…
  local wanted=$1 code=0; shift
  "$@" >"$dir/said" 2>&1 || code=$?
  [ "$code" -eq "$wanted" ] || { fail "$* ended with $code instead of $wanted"; cat "$dir/said"; }
}
code_is 0 run -- true
code_is 9 run -- sh -c 'exit 9'
code_is 137 run -- sh -c 'kill -9 $$'
code_is 127 run -- no-such-command
want "executable file not found" cat "$dir/said"
code_is 126 run -- /etc/passwd
code_is 2 run
want "no command" cat "$dir/said"
code_is 1 run --qos XX -- true
want "want LSE, LSR, LS or BE" cat "$dir/said"

# Output and errors apart, in order, all of it; words as they were given.
run -- sh -c 'for i in $(seq 3000); do echo "line $i"; done; echo bad >&2' >"$dir/stdout" 2>"$dir/stderr"
[ "$(wc -l <"$dir/stdout")" -eq 3000 ] && [ "$(tail -1 "$dir/stdout")" = "line 3000" ] || fail "output was lost"
[ "$(cat "$dir/stderr")" = bad ] || fail "errors came as '$(cat "$dir/stderr")'"
[ "$(run -- printf '%s|' 'a b' '$HOME' '$(X)' '*')" = 'a b|$HOME|$(X)|*|' ] || fail "words were changed"
cd "$dir" || exit 1
[ "$(GREETING="hi you" run -- sh -c 'echo "$GREETING $PWD"')" = "hi you $dir" ] || fail "environment or directory was lost"
run -- sh -c 'echo made > here.txt'; [ "$(cat "$dir/here.txt")" = made ] || fail "a file was not written to the caller's directory"
cd / || exit 1

# Signals reach the command itself; its own end is what counts.
"$mangrove" run --qos LS --name hears -- sh -c 'trap "echo got usr1" USR1; trap "echo got int; exit 5" INT; echo ready; while :; do sleep 0.05; done' >"$dir/heard" 2>&1 & pid=$!
want "ready" cat "$dir/heard"
kill -USR1 "$pid"
want "got usr1" cat "$dir/heard"
kill -INT "$pid"; wait "$pid"; code=$?
[ "$code" -eq 5 ] || fail "an interrupted command that ends with 5 gave $code"
want "got int" cat "$dir/heard"
want "not found" kubectl get pod hears
"$mangrove" run --qos LS -- sleep 1000 & pid=$!
for _ in $(seq 100); do kubectl get pods 2>/dev/null | grep -q "sleep-.*Running" && break; sleep 0.1; done
kill -TERM "$pid"; wait "$pid"; code=$?
[ "$code" -eq 143 ] || fail "a terminated command gave $code instead of 143"
"$mangrove" run --qos LS --name deaf -- sh -c 'trap "" INT TERM; echo ready; while :; do sleep 0.1; done' >"$dir/deaf" 2>&1 & pid=$!
want "ready" cat "$dir/deaf"
for _ in 1 2 3; do kill -INT "$pid"; sleep 0.3; done; wait "$pid"; code=$?
[ "$code" -eq 130 ] || fail "the third interruption gave $code instead of 130"
tries=120 want "not found" kubectl get pod deaf

# Names: a collision is explained, a kept pod stays.
code_is 0 run --name mine --keep -- true
want "Completed" kubectl get pod mine
code_is 1 run --name mine -- true
want "there is a pod default/mine already; choose another --name" cat "$dir/said"

# Best effort: reclaimed resources, the lowest weight.
tries=120 want "batch-cpu" kubectl get node n1 -o 'jsonpath={.status.allocatable}'
"$mangrove" run --qos BE --memory 16Mi --name low -- sleep 1000 >/dev/null 2>&1 & pid=$!
want "Running" state low .status.phase
want '"kubernetes.io/batch-memory":"16Mi"' state low '.spec.containers[0].resources.requests'
want "BestEffort" state low .status.qosClass
want "koord-batch" state low .spec.priorityClassName
kill -TERM "$pid"; wait "$pid"
"$mangrove" run --qos BE --cpu 4000 --name never -- true >"$dir/never" 2>&1 & pid=$!
want "mangrove run: waiting:" cat "$dir/never"
want '"kubernetes.io/batch-cpu":"4M"' state never '.spec.containers[0].resources.requests'
want "nsufficient" cat "$dir/never"
kill -INT "$pid"; wait "$pid"; code=$?
[ "$code" -eq 130 ] || fail "interrupting a command that waits gave $code instead of 130"
want "not found" kubectl get pod never
KUBECONFIG=/no/such/file code_is 1 run -- true
want "/no/such/file" cat "$dir/said"
kubectl delete pods --all >/dev/null
