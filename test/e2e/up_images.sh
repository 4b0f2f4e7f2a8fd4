#!/usr/bin/env bash
# Pods from images, through a containerd on this machine: pulls and their failures, what runs and how it ends, commands, ports,
# names, a runner that is killed, and nothing left behind.
source "$(dirname "$0")/lib/up.sh"
source "$(dirname "$0")/lib/containerd.sh"
containerd_start
up_start

want "containerd://" kubectl get node n1 -o 'jsonpath={.status.nodeInfo.containerRuntimeVersion}'
box="$registry/busybox:1"
events() { kubectl get events --field-selector "involvedObject.name=$1" -o 'custom-columns=R:.reason,M:.message'; }

# A file system of its own, variables of image and pod, an address, a log.
pod web "containers: [{name: main, image: '$box', command: [sh, -c, 'echo \$GREETING \$MINE; ls /; exec httpd -f -v -p 8080 -h /bin'],
  env: [{name: MINE, value: too}], resources: {requests: {cpu: 250m, memory: 32Mi}, limits: {cpu: 500m, memory: 64Mi}}}]"
want "Running" state web .status.phase
want "Pulling image" events web
want "Successfully pulled image" events web
want "hello too" kubectl logs web
never "usr" kubectl logs web
want "sha256:" state web '.status.containerStatuses[0].imageID'
uid=$(state web .metadata.uid)
cid=$(state web '.status.containerStatuses[0].containerID'); cid=${cid#*://}
for tree in /sys/fs/cgroup/cpu /sys/fs/cgroup; do
  at="$tree/$group/kubepods/burstable/pod$uid/$cid"
  [ -f "$at/cpu.shares" ] && want 256 cat "$at/cpu.shares" && want 50000 cat "$at/cpu.cfs_quota_us"
  [ -f "$at/cpu.max" ] && want "50000 100000" cat "$at/cpu.max"
done
want "$(state web .status.podIP)" kubectl exec web -- ip -4 addr show eth0
want "ELF" sh -c "wget -qO- http://$(state web .status.podIP):8080/busybox | head -c 4"

# Commands: their output, input with its end, and exit code; a terminal; copies; ports.
want "uid=0" kubectl exec web -- id
[ "$(echo some text | kubectl exec -i web -- cat)" = "some text" ] || fail "input did not reach the command"
kubectl exec web -- sh -c 'exit 5' >/dev/null 2>&1; [ $? -eq 5 ] || fail "the exit code was lost"
want "tty" script -qec "kubectl exec -it web -- sh -c 'test -t 0 && echo tty'" /dev/null
echo payload >"$dir/file"; kubectl cp "$dir/file" web:/tmp/copied 2>/dev/null
want "payload" kubectl exec web -- cat /tmp/copied
kubectl port-forward pod/web :8080 >"$dir/forward" 2>&1 & forward=$!
want "Forwarding from" cat "$dir/forward"
port=$(sed -n 's/.*127.0.0.1:\([0-9]*\) .*/\1/p' "$dir/forward" | head -1)
want "ELF" sh -c "wget -qO- http://127.0.0.1:$port/busybox | head -c 4"
kill $forward
pod talk "containers: [{name: main, image: '$box', stdin: true, command: [sh, -c, 'while read line; do echo heard \$line; done']}]"
want "Running" state talk .status.phase
want "heard you" sh -c 'echo you | kubectl attach -i talk'

# Services by name, and the API server as client libraries look for it.
kubectl expose pod web --port 80 --target-port 8080 >/dev/null
want "ELF" kubectl exec web -- sh -c 'wget -qO- http://web.default.svc.cluster.local/busybox | head -c 4'
want "ey" kubectl exec web -- cat /var/run/secrets/kubernetes.io/serviceaccount/token

# Volumes: a part of one, a ConfigMap, memory.
kubectl create configmap conf --from-literal=key=value >/dev/null
pod parts "containers: [{name: main, image: '$box', command: [sh, -c, 'echo here > /part/file; cat /conf/key; df /mem | tail -1; sleep 1000'],
  volumeMounts: [{name: v, mountPath: /part, subPath: a/b}, {name: v, mountPath: /whole}, {name: c, mountPath: /conf}, {name: m, mountPath: /mem}]}],
  volumes: [{name: v, emptyDir: {}}, {name: c, configMap: {name: conf}}, {name: m, emptyDir: {medium: Memory}}]"
want "value" kubectl logs parts
want "tmpfs" kubectl logs parts
want "here" kubectl exec parts -- cat /whole/a/b/file

# Endings.
pod bad "restartPolicy: Never, containers: [{name: main, image: '$box', command: [sh, -c, 'echo why > /dev/termination-log; exit 3']}]"
want "3 Error why" state bad '.status.containerStatuses[0].state.terminated.exitCode} {.status.containerStatuses[0].state.terminated.reason} {.status.containerStatuses[0].state.terminated.message'
pod image "restartPolicy: Never, containers: [{name: main, image: '$registry/failing:1'}]"
want "4" state image '.status.containerStatuses[0].state.terminated.exitCode'
want "1000" kubectl logs image
pod missing "restartPolicy: Never, containers: [{name: main, image: '$box', command: [no-such-program]}]"
want "StartError" state missing '.status.containerStatuses[0].state.terminated.reason'
pod oom "restartPolicy: Never, containers: [{name: main, image: '$box', command: [sh, -c, 'exec tail /dev/zero'], resources: {limits: {memory: 16Mi}}}]"
want "OOMKilled" state oom '.status.containerStatuses[0].state.terminated.reason'
pod loop "containers: [{name: main, image: '$box', command: ['false']}]"
want "CrashLoopBackOff" state loop '.status.containerStatuses[0].state.waiting.reason'
pod probed "containers: [{name: main, image: '$box', command: [sleep, '1000'], readinessProbe: {exec: {command: [test, -e, /tmp/ready]}, periodSeconds: 1, timeoutSeconds: 10}}]"
want "Running" state probed .status.phase
want "Unhealthy" events probed
kubectl exec probed -- touch /tmp/ready
want "true" state probed '.status.containerStatuses[0].ready'

# Images that are not there, may not be fetched, or want a password.
pod absent "containers: [{name: main, image: '$registry/absent:1'}]"
want "ImagePullBackOff" state absent '.status.containerStatuses[0].state.waiting.reason'
want "Failed to pull image" events absent
pod never "containers: [{name: main, image: '$registry/absent:1', imagePullPolicy: Never}]"
want "ErrImageNeverPull" state never '.status.containerStatuses[0].state.waiting.reason'
pod wrong "containers: [{name: main, image: 'Not An Image'}]"
want "InvalidImageName" state wrong '.status.containerStatuses[0].state.waiting.reason'
pod private "containers: [{name: main, image: '$registry/private/busybox:1'}]"
want "ErrImagePull" sh -c "kubectl get events | grep pod/private"
kubectl create secret docker-registry pull --docker-server="$registry" --docker-username=joe --docker-password=secret >/dev/null
pod paid "imagePullSecrets: [{name: pull}], containers: [{name: main, image: '$registry/private/busybox:1'}]"
want "Running" state paid .status.phase
pod nonroot "securityContext: {runAsNonRoot: true}, containers: [{name: main, image: '$box', command: [sleep, '1000']}]"
want "image will run as root" state nonroot '.status.containerStatuses[0].state.waiting.message'

# Who wants it runs as a process of this machine.
pod process "runtimeClassName: mangrove-process, containers: [{name: main, image: '$box', command: [sh, -c, 'ls /usr/bin/env; sleep 1000']}]"
want "/usr/bin/env" kubectl logs process

if command -v nginx >/dev/null; then
  pod nginx "containers: [{name: main, image: '$registry/nginx:1', ports: [{containerPort: 80}], readinessProbe: {httpGet: {port: 80}, periodSeconds: 1}}]"
  want "true" state nginx '.status.containerStatuses[0].ready'
  want "a page out of an image" sh -c "wget -qO- http://$(state nginx .status.podIP)/"
fi

# A runner that is killed: its pods go on, and one that ended meanwhile is told.
pod short "restartPolicy: Never, containers: [{name: main, image: '$box', command: [sh, -c, 'sleep 3; exit 6']}]"
want "Running" state short .status.phase
before=$(state web '.status.containerStatuses[0].containerID')
kill -9 "$up_pid"; wait "$up_pid" 2>/dev/null
sleep 4
up_start
want "6" state short '.status.containerStatuses[0].state.terminated.exitCode'
want "$before 0" state web '.status.containerStatuses[0].containerID} {.status.containerStatuses[0].restartCount'
want "uid=0" kubectl exec web -- id

# A container that is killed behind our back, and a sandbox that is.
ctr -a "$runtime" -n k8s.io tasks kill -s SIGKILL "$cid"
want "1" state web '.status.containerStatuses[0].restartCount'
want "Running" state web '.status.phase'

# Deleted pods leave nothing, but what a part of a volume of theirs showed stays; nor does the end.
mkdir -p "$dir/mine/part"; echo kept >"$dir/mine/part/file"
pod shows "containers: [{name: main, image: '$box', command: [sh, -c, 'cat /part/file; sleep 1000'], volumeMounts: [{name: v, mountPath: /part, subPath: part}]}],
  volumes: [{name: v, hostPath: {path: $dir/mine}}]"
want "kept" kubectl logs shows
gone=$(state parts .metadata.uid)
kubectl delete pod web talk parts shows --wait --timeout 60s >/dev/null || fail "pods were not deleted"
[ "$(cat "$dir/mine/part/file" 2>/dev/null)" = kept ] || fail "a deleted pod took files with it that are not its own"
grep "$gone" /proc/mounts && fail "mounts of a deleted pod are left"
never "$cid" runtime_ls
up_stop
[ -z "$(runtime_ls)" ] || fail "containers are left: $(runtime_ls | wc -l)"
[ -z "$(ls "$dir/cni/net.d")" ] || fail "the network's configuration is left"
