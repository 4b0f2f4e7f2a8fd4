#!/usr/bin/env bash
# Pods as processes: what runs, what it sees, how it ends, and what the kernel was told.
source "$(dirname "$0")/lib/up.sh"
up_start

want "Ready" kubectl get node n1
want "koord-batch" kubectl get priorityclass
want "colocation-config" kubectl -n koordinator-system get cm slo-controller-config -o yaml

pod web 'containers: [{name: main, image: x, command: [sh, -c, "echo hello; echo oops >&2; exec sleep 1000"],
  resources: {requests: {cpu: 250m, memory: 32Mi}, limits: {cpu: 500m, memory: 64Mi}}}]'
want "Running" state web .status.phase
want "Burstable" state web .status.qosClass
want "true" state web '.status.containerStatuses[0].ready'
want "hello" kubectl logs web
want "oops" kubectl logs web
uid=$(state web .metadata.uid)
cid=$(state web '.status.containerStatuses[0].containerID'); cid=${cid#*://}
for tree in /sys/fs/cgroup/cpu /sys/fs/cgroup; do
  at="$tree/$group/kubepods/burstable/pod$uid/$cid"
  [ -f "$at/cpu.shares" ] && want 256 cat "$at/cpu.shares" && want 50000 cat "$at/cpu.cfs_quota_us"
  [ -f "$at/cpu.max" ] && want "50000 100000" cat "$at/cpu.max"
done
[ -d /sys/fs/cgroup/memory ] &&
  want 67108864 cat "/sys/fs/cgroup/memory/$group/kubepods/burstable/pod$uid/$cid/memory.limit_in_bytes"

# Endings.
pod done 'restartPolicy: Never, containers: [{name: main, image: x, command: ["true"]}]'
want "Succeeded" state done .status.phase
pod bad 'restartPolicy: Never, containers: [{name: main, image: x, command: [sh, -c, "echo why > /dev/termination-log; exit 3"]}]'
want "Failed" state bad .status.phase
want "3" state bad '.status.containerStatuses[0].state.terminated.exitCode'
want "why" state bad '.status.containerStatuses[0].state.terminated.message'
pod missing 'restartPolicy: Never, containers: [{name: main, image: x, command: [no-such-program]}]'
want "StartError" state missing '.status.containerStatuses[0].state.terminated.reason'
want "executable file not found" state missing '.status.containerStatuses[0].state.terminated.message'
pod loop 'containers: [{name: main, image: x, command: [sh, -c, "exit 1"]}]'
want "CrashLoopBackOff" state loop '.status.containerStatuses[0].state.waiting.reason'
want "BackOff" kubectl get events --field-selector involvedObject.name=loop
pod oom 'restartPolicy: Never, containers: [{name: main, image: x, command: [sh, -c, "exec tail /dev/zero"],
  resources: {limits: {memory: 32Mi}}}]'
want "OOMKilled" state oom '.status.containerStatuses[0].state.terminated.reason'
pod standin 'containers: [{name: main, image: "registry.local/nobody-has-this:1"}]'
want "true" state standin '.status.containerStatuses[0].ready'
want "stand-in" kubectl logs standin
want "StandIn" kubectl get events --field-selector involvedObject.name=standin

# A world of its own.
pod own 'containers: [{name: main, image: x, command: [sh, -c, "touch /tmp/mine-'$$'; hostname; ls /proc | grep -c ^[0-9]; ip -4 -br addr show eth0; exec sleep 1000"]}]'
want "Running" state own .status.phase
want "own" kubectl logs own
want "$(state own .status.podIP)" kubectl logs own
[ -e /tmp/mine-$$ ] && fail "the pod's /tmp is the machine's"
[ "$(kubectl logs own | sed -n 2p)" -le 4 ] || fail "the pod sees the machine's processes"

# Volumes, variables, users.
kubectl create configmap conf --from-literal=key=value --from-literal=file.txt=content >/dev/null
kubectl create secret generic pass --from-literal=word=geheim >/dev/null
kubectl apply -f - >/dev/null <<'Y'
apiVersion: v1
kind: Pod
metadata: {name: full, labels: {app: full}}
spec:
  nodeName: n1
  restartPolicy: Never
  securityContext: {runAsUser: 1234, runAsGroup: 2345}
  initContainers:
  - {name: init, image: x, command: [sh, -c, "echo from-init > /shared/file"], volumeMounts: [{name: shared, mountPath: /shared}]}
  containers:
  - name: main
    image: x
    workingDir: /usr
    command: [sh, -c, 'id -u; id -g; pwd; cat /shared/file /etc/app/conf/file.txt /pass/word; echo; cat /info/labels; echo; echo "$KEY $POD $(GREETING) $CPU"']
    env:
    - {name: KEY, valueFrom: {configMapKeyRef: {name: conf, key: key}}}
    - {name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
    - {name: GREETING, value: "hi $(POD)"}
    - {name: CPU, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: 1m}}}
    resources: {limits: {cpu: 100m}}
    volumeMounts:
    - {name: shared, mountPath: /shared}
    - {name: conf, mountPath: /etc/app/conf}
    - {name: pass, mountPath: /pass}
    - {name: info, mountPath: /info}
  volumes:
  - {name: shared, emptyDir: {}}
  - {name: conf, configMap: {name: conf}}
  - {name: pass, projected: {sources: [{secret: {name: pass}}]}}
  - {name: info, downwardAPI: {items: [{path: labels, fieldRef: {fieldPath: metadata.labels}}]}}
Y
want "Succeeded" state full .status.phase
want "1234
2345
/usr
from-init
contentgeheim
app=\"full\"
value full hi full 100" kubectl logs full
[ -e /etc/app ] && fail "a mount point was made on the machine itself"
pod nomap 'containers: [{name: main, image: x, command: ["true"], env: [{name: A, valueFrom: {configMapKeyRef: {name: none, key: k}}}]}]'
want "CreateContainerConfigError" state nomap '.status.containerStatuses[0].state.waiting.reason'
want 'configmap "none" not found' state nomap '.status.containerStatuses[0].state.waiting.message'

# Probes and hooks.
pod probed 'containers: [{name: main, image: x, command: [sh, -c, "sleep 1; touch /tmp/ready; exec sleep 1000"],
  readinessProbe: {exec: {command: [test, -f, /tmp/ready]}, periodSeconds: 1}}]'
want "true" state probed '.status.containerStatuses[0].ready'
pod sick 'containers: [{name: main, image: x, command: [sh, -c, "trap exit TERM; while :; do sleep 0.2; done"],
  livenessProbe: {exec: {command: ["false"]}, periodSeconds: 1, failureThreshold: 1}}]'
want "1" state sick '.status.containerStatuses[0].restartCount'
pod calls 'containers: [{name: main, image: x, command: [sh, -c, "exec sleep 1000"], ports: [{containerPort: 9}],
  readinessProbe: {grpc: {port: 9}, periodSeconds: 1}}]'
want "Readiness probe failed: connect: Connection refused" kubectl get events --field-selector involvedObject.name=calls
pod hooked 'containers: [{name: main, image: x, command: [sh, -c, "trap exit TERM; while :; do sleep 0.2; done"],
  lifecycle: {preStop: {exec: {command: [sh, -c, "echo stopping > /hostdir/stopped"]}}},
  volumeMounts: [{name: h, mountPath: /hostdir}]}], volumes: [{name: h, hostPath: {path: '"$dir"'/hook, type: DirectoryOrCreate}}]'
want "Running" state hooked .status.phase
want "deleted" kubectl delete pod hooked
want "stopping" cat "$dir/hook/stopped"

want "deleted" kubectl delete pod web
want "not found" kubectl get pod web
[ -z "$(cgroup_dirs | grep "$uid")" ] || fail "the deleted pod's cgroups are still there"
want "deleted" kubectl delete pods --all
