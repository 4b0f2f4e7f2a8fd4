#!/usr/bin/env bash
# logs, exec, attach and port-forward with a stock kubectl against real containers.
source "$(dirname "$0")/lib/up.sh"
command -v python3 >/dev/null || skip "there is no python3"
up_start

pod web 'containers: [{name: main, image: x, command: [python3, -m, http.server, "8080", --bind, 127.0.0.1], workingDir: /usr/share},
  {name: side, image: x, command: [sh, -c, "i=0; while :; do echo tick $i; i=$((i+1)); sleep 0.2; done"]}]'
want "Running" state web .status.phase

# Commands: output, errors, exit codes, input to its end, a terminal.
want "out" kubectl exec web -c main -- sh -c 'echo out; echo err >&2'
[ "$(kubectl exec web -c main -- sh -c 'echo err >&2' 2>/dev/null)" = "" ] || fail "errors came as output"
kubectl exec web -c main -- sh -c 'exit 7' >/dev/null 2>&1; [ $? -eq 7 ] || fail "the exit code of a command was lost"
[ "$(head -c 3000000 /dev/zero | kubectl exec -i web -c main -- wc -c)" = 3000000 ] || fail "input was lost"
[ "$(kubectl exec web -c main -- head -c 5000000 /dev/zero | wc -c)" = 5000000 ] || fail "output was lost"
want "executable file not found" kubectl exec web -c main -- no-such-program
if command -v script >/dev/null; then
  want "30 100" script -qec "stty rows 30 cols 100; kubectl exec -it web -c main -- stty size" /dev/null
fi

# Logs.
want "tick 3" kubectl logs web -c side
[ "$(kubectl logs web -c side --tail 2 | wc -l)" -eq 2 ] || fail "--tail 2 gave another number of lines"
want "Z tick" kubectl logs web -c side --timestamps --tail 1
want "tick 30" kubectl logs web -c side  # by now the first line is more than a second old
never "tick 0" kubectl logs web -c side --since 1s
timeout 3 kubectl logs -f web -c side --tail 1 >"$dir/followed"
[ "$(wc -l <"$dir/followed")" -ge 5 ] || fail "a followed log did not go on"
pod crash 'containers: [{name: main, image: x, command: [sh, -c, "echo run; exit 1"]}]'
want "1" state crash '.status.containerStatuses[0].restartCount'
want "run" kubectl logs crash -p
want "not valid for pod" kubectl logs crash -c none

# Attach: what it says, what it is told.
pod cat 'containers: [{name: main, image: x, stdin: true, command: [sh, -c, "while read l; do echo got $l; done"]}]'
want "Running" state cat .status.phase
(echo hello; sleep 2) | timeout 5 kubectl attach -i cat >"$dir/attached" 2>/dev/null
want "got hello" cat "$dir/attached"
want "got hello" kubectl logs cat

# Ports, in the pod's own network.
kubectl port-forward pod/web :8080 >"$dir/forward" 2>&1 &
forward=$!
want "Forwarding from 127.0.0.1" cat "$dir/forward"
port=$(sed -n 's/.*127.0.0.1:\([0-9]*\) .*/\1/p' "$dir/forward" | head -1)
want "Directory listing" python3 -c "import urllib.request; print(urllib.request.urlopen('http://127.0.0.1:$port/').read().decode())"
for _ in 1 2 3; do want "Directory listing" python3 -c "import urllib.request; print(urllib.request.urlopen('http://127.0.0.1:$port/').read().decode())"; done
kill "$forward"; wait "$forward" 2>/dev/null

# The same with the protocol of kubectl before 1.30.
export KUBECTL_REMOTE_COMMAND_WEBSOCKETS=false KUBECTL_PORT_FORWARD_WEBSOCKETS=false
want "SPDY" sh -c 'kubectl -v 8 exec web -c main -- true 2>&1 | grep -i "upgrade\|SPDY"'
want "out" kubectl exec web -c main -- sh -c 'echo out; echo err >&2'
[ "$(kubectl exec web -c main -- sh -c 'echo err >&2' 2>/dev/null)" = "" ] || fail "errors came as output over SPDY"
kubectl exec web -c main -- sh -c 'exit 7' >/dev/null 2>&1; [ $? -eq 7 ] || fail "the exit code of a command was lost over SPDY"
[ "$(head -c 3000000 /dev/zero | kubectl exec -i web -c main -- wc -c)" = 3000000 ] || fail "input was lost over SPDY"
[ "$(kubectl exec web -c main -- head -c 5000000 /dev/zero | wc -c)" = 5000000 ] || fail "output was lost over SPDY"
if command -v script >/dev/null; then
  want "30 100" script -qec "stty rows 30 cols 100; kubectl exec -it web -c main -- stty size" /dev/null
fi
(echo again; sleep 2) | timeout 5 kubectl attach -i cat >"$dir/attached" 2>/dev/null
want "got again" cat "$dir/attached"
kubectl port-forward pod/web :8080 >"$dir/forward" 2>&1 &
forward=$!
want "Forwarding from 127.0.0.1" cat "$dir/forward"
port=$(sed -n 's/.*127.0.0.1:\([0-9]*\) .*/\1/p' "$dir/forward" | head -1)
for _ in 1 2 3; do want "Directory listing" python3 -c "import urllib.request; print(urllib.request.urlopen('http://127.0.0.1:$port/').read().decode())"; done
kill "$forward"; wait "$forward" 2>/dev/null
unset KUBECTL_REMOTE_COMMAND_WEBSOCKETS KUBECTL_PORT_FORWARD_WEBSOCKETS
want "deleted" kubectl delete pods --all --grace-period 1
