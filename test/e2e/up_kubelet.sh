#!/usr/bin/env bash
# What a kubelet does for a pod beyond starting it: sidecars, all kinds of probes and hooks, the machine's network, parts of
# volumes, users and groups, tokens.
source "$(dirname "$0")/lib/up.sh"
command -v python3 >/dev/null || skip "there is no python3"
up_start --without koordlet
first='.status.containerStatuses[0]'

# A sidecar is there before its pod's first ordinary init container and outlives the last container; the pod is done without it.
mkdir "$dir/story"
kubectl apply -f - >/dev/null <<Y || fail "the pod with a sidecar was refused"
apiVersion: v1
kind: Pod
metadata: {name: side}
spec:
  nodeName: n1
  restartPolicy: Never
  terminationGracePeriodSeconds: 5
  initContainers:
  - name: helper
    image: x
    restartPolicy: Always
    command: [sh, -c, 'trap "echo helper ends >> /shared/story; exit 0" TERM; echo helper begins >> /shared/story; touch /shared/up; while :; do sleep 0.05; done']
    startupProbe: {exec: {command: [test, -f, /shared/up]}, periodSeconds: 1}
    volumeMounts: [{name: shared, mountPath: /shared}]
  - {name: first, image: x, command: [sh, -c, "echo first >> /shared/story"], volumeMounts: [{name: shared, mountPath: /shared}]}
  containers:
  - {name: main, image: x, command: [sh, -c, "echo main >> /shared/story; sleep 1; echo main ends >> /shared/story"], volumeMounts: [{name: shared, mountPath: /shared}]}
  volumes: [{name: shared, hostPath: {path: $dir/story}}]
Y
want "Succeeded" state side .status.phase
want "helper begins
first
main
main ends
helper ends" cat "$dir/story/story"

# Probes over HTTP, named ports, start-up before liveness, and what makes a pod not ready again.
mkdir "$dir/site"; echo fine >"$dir/site/healthz"
pod probed "containers: [{name: main, image: x, command: [python3, -m, http.server, \"8080\"], workingDir: /site, ports: [{name: web, containerPort: 8080}],
  startupProbe: {httpGet: {path: /healthz, port: web}, periodSeconds: 1, failureThreshold: 30},
  livenessProbe: {tcpSocket: {port: web}, periodSeconds: 1},
  readinessProbe: {httpGet: {path: /healthz, port: web, httpHeaders: [{name: X-Probe, value: \"1\"}]}, periodSeconds: 1, failureThreshold: 1},
  volumeMounts: [{name: site, mountPath: /site}]}], volumes: [{name: site, hostPath: {path: $dir/site}}]"
want "true" state probed "$first.ready"
want "true" state probed "$first.started"
rm "$dir/site/healthz"
want "false" state probed "$first.ready"
want "Readiness probe failed: HTTP probe failed with statuscode: 404" kubectl get events --field-selector involvedObject.name=probed
echo fine >"$dir/site/healthz"
want "true" state probed "$first.ready"
[ "$(state probed "$first.restartCount")" = 0 ] || fail "a pod that was not ready for a while was restarted"
pod slow 'containers: [{name: main, image: x, command: [sh, -c, "trap exit TERM; while :; do sleep 0.1; done"],
  startupProbe: {exec: {command: ["false"]}, periodSeconds: 1, failureThreshold: 2}}]'
want "Startup probe failed" kubectl get events --field-selector involvedObject.name=slow
want "1" state slow "$first.restartCount"

# Hooks: one that fails ends its container; one that works comes before others see the pod ready.
pod hookbad 'restartPolicy: Never, containers: [{name: main, image: x, command: [sh, -c, "trap \"exit 9\" TERM; while :; do sleep 0.1; done"],
  lifecycle: {postStart: {exec: {command: [sh, -c, "exit 3"]}}}}]'
want "FailedPostStartHook" kubectl get events --field-selector involvedObject.name=hookbad
want "Failed" state hookbad .status.phase
pod hookgood 'containers: [{name: main, image: x, command: [sh, -c, "while :; do sleep 0.1; done"],
  lifecycle: {postStart: {exec: {command: [sh, -c, "echo begun > /tmp/hook"]}}}}]'
want "begun" kubectl exec hookgood -- cat /tmp/hook

# The machine's network, its address, and nobody else's pod address.
pod onhost 'hostNetwork: true, containers: [{name: main, image: x, command: [sh, -c, "ls /sys/class/net; exec sleep 1000"]}]'
want "Running" state onhost .status.phase
want "$bridge" kubectl logs onhost
[ "$(state onhost .status.podIP)" = "$(state onhost .status.hostIP)" ] || fail "a pod on the machine's network has another address"

# Parts of volumes, memory, read-only places, groups, a token that the server knows.
kubectl create configmap parts --from-literal=one=1 --from-literal=two=2 >/dev/null
kubectl apply -f - >/dev/null <<'Y' || fail "the pod with volumes was refused"
apiVersion: v1
kind: Pod
metadata: {name: vols, annotations: {note: "a b"}}
spec:
  nodeName: n1
  restartPolicy: Never
  securityContext: {runAsUser: 1234, fsGroup: 4321, supplementalGroups: [999]}
  containers:
  - name: main
    image: x
    command:
    - sh
    - -c
    - |
      cat /only-one; echo
      ls /some; cat /info/note; echo
      stat -f -c %T /fast
      touch /fast/file && echo writable
      touch /ro/file 2>/dev/null || echo read-only
      id -G
      cat /info/token | cut -c1-3 | sed "s/^/token /"
      echo "$NODE $IP"
    env:
    - {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
    - {name: IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
    volumeMounts:
    - {name: parts, mountPath: /only-one, subPath: one}
    - {name: some, mountPath: /some}
    - {name: fast, mountPath: /fast}
    - {name: fast, mountPath: /ro, readOnly: true}
    - {name: info, mountPath: /info}
  volumes:
  - {name: parts, configMap: {name: parts}}
  - {name: some, configMap: {name: parts, items: [{key: two, path: zwei}]}}
  - {name: fast, emptyDir: {medium: Memory, sizeLimit: 8Mi}}
  - {name: info, projected: {sources: [{downwardAPI: {items: [{path: note, fieldRef: {fieldPath: "metadata.annotations['note']"}}]}}, {serviceAccountToken: {path: token}}]}}
Y
want "Succeeded" state vols .status.phase
want "1
zwei
a b
tmpfs
writable
read-only" kubectl logs vols
want "999" kubectl logs vols
want "4321" kubectl logs vols
want "token eyJ" kubectl logs vols
want "n1 $(state vols .status.podIP)" kubectl logs vols
kubectl create configmap parts --from-literal=one=11 --dry-run=client -o yaml | kubectl apply -f - >/dev/null 2>&1

# Its own /var/log has the directories that programs expect there, with their owners, and nothing in them.
known=$(find /var/log -mindepth 1 -maxdepth 1 -type d | sort | head -1)
if [ -n "$known" ]; then
  pod logdirs "restartPolicy: Never, containers: [{name: main, image: x, command: [sh, -c, 'stat -c \"%U %a\" $known; ls -A $known | wc -l']}]"
  want "$(stat -c '%U %a' "$known")
0" kubectl logs logdirs
fi

# Every init container in turn; one that fails is tried again, and said.
pod initbad 'initContainers: [{name: never, image: x, command: ["false"]}], containers: [{name: main, image: x, command: ["true"]}]'
want "Init:" sh -c 'kubectl get pod initbad --no-headers'
want "PodInitializing" state initbad "$first.state.waiting.reason"
want "Pending" state initbad .status.phase

# A shutdown that was asked for stops what was started, with its hooks.
pod bye "containers: [{name: main, image: x, command: [sh, -c, 'trap \"echo bye > /out/said; exit 0\" TERM; while :; do sleep 0.05; done'],
  volumeMounts: [{name: out, mountPath: /out}]}], volumes: [{name: out, hostPath: {path: $dir/site}}]"
want "Running" state bye .status.phase
up_stop
want "bye" cat "$dir/site/said"
