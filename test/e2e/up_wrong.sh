#!/usr/bin/env bash
# Everything a pod can do wrong ends in the state and the message a Kubernetes user expects, and hurts nobody else: a good pod
# beside them is never restarted, and `up` neither dies nor grows.
source "$(dirname "$0")/lib/up.sh"
command -v python3 >/dev/null || skip "there is no python3"
up_start --without koordlet
pod good 'containers: [{name: main, image: x, command: [sleep, "100000"]}]'
want "Running" state good .status.phase
first='.status.containerStatuses[0]'

# A program that is not there, a file that is no program, a directory that is not there.
pod missing 'containers: [{name: main, image: x, command: [no-such-program]}]'
want "CrashLoopBackOff" state missing "$first.state.waiting.reason"
want "StartError" state missing "$first.lastState.terminated.reason"
want 'exec: "no-such-program": executable file not found in $PATH' state missing "$first.lastState.terminated.message"
want "128" state missing "$first.lastState.terminated.exitCode"
pod noexec 'restartPolicy: Never, containers: [{name: main, image: x, command: [/etc/passwd]}]'
want "permission denied" state noexec "$first.state.terminated.message"
pod nodir 'restartPolicy: Never, containers: [{name: main, image: x, command: ["true"], workingDir: /no/such/dir}]'
want "working directory /no/such/dir" state nodir "$first.state.terminated.message"

# A crash loop: at once, then with a growing back-off, its last words kept.
pod loop 'containers: [{name: main, image: x, terminationMessagePolicy: FallbackToLogsOnError, command: [sh, -c, "echo out of luck >&2; exit 7"]}]'
want "CrashLoopBackOff" state loop "$first.state.waiting.reason"
want "back-off 10s restarting failed container=main" state loop "$first.state.waiting.message"
want "7" state loop "$first.lastState.terminated.exitCode"
want "out of luck" state loop "$first.lastState.terminated.message"
want "Back-off restarting failed container main" kubectl get events --field-selector involvedObject.name=loop

# It ignores SIGTERM: killed after its grace period, 137.
pod stubborn 'containers: [{name: main, image: x, command: [sh, -c, "trap : TERM INT; while :; do sleep 1; done"]}]'
want "Running" state stubborn .status.phase
before=$(date +%s)
kubectl delete pod stubborn --grace-period 2 >/dev/null
took=$(($(date +%s) - before))
[ "$took" -ge 2 ] && [ "$took" -le 20 ] || fail "a pod that ignores SIGTERM went after $took s, with a grace period of 2"

# It forks away twice and in its own session: found by its cgroup.
pod runaway 'containers: [{name: main, image: x, command: [sh, -c, "setsid sh -c \"setsid sleep 87654321 & exec sleep 87654321\" & sleep 0.3; exit 0"]}], restartPolicy: Never'
want "Succeeded" state runaway .status.phase
for _ in $(seq 40); do pgrep -f "sleep 8765432[1]" >/dev/null || break; sleep 0.1; done
pgrep -f "sleep 8765432[1]" >/dev/null && fail "a process that forked away is still there"

# It fills its log: five files of ten megabytes at most, and the newest lines are there.
pod flood 'restartPolicy: Never, containers: [{name: main, image: x, command: [sh, -c, "yes 0123456789012345678901234567890123456789 | head -c 90000000; echo the end"]}]'
tries=240 want "Succeeded" state flood .status.phase
[ "$(du -sk "$dir"/state/logs/*flood* | cut -f1)" -lt 70000 ] || fail "the log of a flooding pod is not bounded"
want "the end" kubectl logs flood --tail 1

# It eats its memory: killed and said so, restarted, and again.
pod hungry 'containers: [{name: main, image: x, command: [sh, -c, "exec tail /dev/zero"], resources: {limits: {memory: 24Mi}}}]'
want "OOMKilled" state hungry "$first.lastState.terminated.reason"
want "137" state hungry "$first.lastState.terminated.exitCode"

# It opens files without end: it hits its own limit, and nobody else's.
pod files 'restartPolicy: Never, containers: [{name: main, image: x, command: [python3, -c, "kept = []\ntry:\n    while True: kept.append(open(\"/dev/null\"))\nexcept OSError as e:\n    kept.pop(); print(\"opened\", len(kept), e.strerror)"]}]'
want "Succeeded" state files .status.phase
want "Too many open files" kubectl logs files

# A fork bomb: it cannot have more processes than a pod may.
uid=
pod bomb 'containers: [{name: main, image: x, command: [python3, -c, "import os, time\nmade = 0\ntry:\n    while True:\n        if os.fork() == 0: time.sleep(10000)\n        made += 1\nexcept OSError as e:\n    print(\"forked\", made, e.strerror, flush=True)\ntime.sleep(10000)"], resources: {limits: {memory: 1500Mi}}}]'
want "Resource temporarily unavailable" kubectl logs bomb
uid=$(state bomb .metadata.uid)
for tree in /sys/fs/cgroup/pids /sys/fs/cgroup; do
  at=$(find "$tree/$group" -maxdepth 4 -type d -name "pod$uid" 2>/dev/null | head -1)
  [ -n "$at" ] && [ -f "$at/pids.max" ] || continue
  [ "$(cat "$at/pids.max")" -le 16384 ] || fail "a pod may have $(cat "$at/pids.max") processes"
  [ "$(cat "$at/pids.current")" -le "$(cat "$at/pids.max")" ] || fail "the fork bomb has more processes than it may"
done
kubectl delete pod bomb --grace-period 0 --force >/dev/null 2>&1
tries=120 want "not found" kubectl get pod bomb
for _ in $(seq 100); do [ -z "$(cgroup_dirs | grep "$uid")" ] && break; sleep 0.1; done
[ -z "$(cgroup_dirs | grep "$uid")" ] || fail "the fork bomb's cgroups are still there"

# References to what is not there: it waits and says for what, and goes on when it comes.
pod nomap 'containers: [{name: main, image: x, command: [sleep, "1000"], envFrom: [{configMapRef: {name: later}}]}]'
want "CreateContainerConfigError" state nomap "$first.state.waiting.reason"
want 'configmap "later" not found' state nomap "$first.state.waiting.message"
kubectl create configmap later --from-literal=a=b >/dev/null
want "Running" state nomap .status.phase
pod nosecret 'containers: [{name: main, image: x, command: [sleep, "1000"], volumeMounts: [{name: s, mountPath: /s}]}], volumes: [{name: s, secret: {secretName: gone}}]'
want 'secret "gone" not found' kubectl get events --field-selector involvedObject.name=nosecret
want "ContainerCreating" state nosecret "$first.state.waiting.reason"

# More than the machine has, bound by hand.
pod huge 'containers: [{name: main, image: x, command: [sleep, "1000"], resources: {requests: {cpu: "4000"}}}]'
want "OutOfcpu" state huge .status.reason
want "Failed" state huge .status.phase
want "Node didn't have enough resource: cpu" state huge .status.message

# Too long, and told to be dead.
pod late 'activeDeadlineSeconds: 1, containers: [{name: main, image: x, command: [sleep, "1000"]}]'
want "DeadlineExceeded" state late .status.reason
pod sick 'containers: [{name: main, image: x, command: [sh, -c, "trap exit TERM; while :; do sleep 0.1; done"],
  livenessProbe: {tcpSocket: {port: 1}, periodSeconds: 1, failureThreshold: 1}}]'
want "Liveness probe failed: connect: Connection refused" kubectl get events --field-selector involvedObject.name=sick
want "1" state sick "$first.restartCount"

[ "$(state good "$first.restartCount")" = 0 ] || fail "the good pod was restarted"
kill -0 "$up_pid" || fail "up has died"
rss=$(awk '/VmRSS/ {print $2}' "/proc/$up_pid/status")
[ "$rss" -le 122880 ] || fail "up takes $rss kB"
kubectl delete pods --all --grace-period 1 >/dev/null
