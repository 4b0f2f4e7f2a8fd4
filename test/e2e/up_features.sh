#!/usr/bin/env bash
# What a pod may ask for beyond a command: other resources while it runs, guests, shared processes, claims, ports of the machine,
# datagrams, static manifests.
source "$(dirname "$0")/lib/up.sh"
command -v python3 >/dev/null || skip "there is no python3"
mkdir "$dir/static"
up_start --static-pods "$dir/static"
first='.status.containerStatuses[0]'

# Resources in place: the same container with another quota and limit; too much is refused and said.
pod size 'containers: [{name: main, image: x, command: [sleep, "100000"], resizePolicy: [{resourceName: memory, restartPolicy: NotRequired}],
  resources: {requests: {cpu: 100m, memory: 32Mi}, limits: {cpu: 200m, memory: 64Mi}}}]'
want "Running" state size .status.phase
uid=$(state size .metadata.uid) id=$(state size "$first.containerID")
want '"cpu":"100m"' state size "$first.resources.requests"
resize() { kubectl patch pod size --subresource resize -p "{\"spec\":{\"containers\":[{\"name\":\"main\",\"resources\":$1}]}}" >/dev/null; }
resize '{"requests":{"cpu":"300m","memory":"64Mi"},"limits":{"cpu":"600m","memory":"128Mi"}}' || fail "the resize was refused"
want '"cpu":"300m"' state size "$first.resources.requests"
for tree in /sys/fs/cgroup/cpu /sys/fs/cgroup; do
  at="$tree/$group/kubepods/burstable/pod$uid"
  [ -f "$at/cpu.shares" ] && want 307 cat "$at/${id#*://}/cpu.shares" && want 60000 cat "$at/${id#*://}/cpu.cfs_quota_us" && want 60000 cat "$at/cpu.cfs_quota_us"
  [ -f "$at/cpu.max" ] && want "60000 100000" cat "$at/${id#*://}/cpu.max"
done
resize '{"requests":{"cpu":"50m","memory":"32Mi"},"limits":{"cpu":"100m","memory":"64Mi"}}'
want '"cpu":"50m"' state size "$first.resources.requests"
[ -f "/sys/fs/cgroup/cpu/$group/kubepods/burstable/pod$uid/cpu.cfs_quota_us" ] &&
  want 10000 cat "/sys/fs/cgroup/cpu/$group/kubepods/burstable/pod$uid/cpu.cfs_quota_us"
[ "$(state size "$first.containerID")" = "$id" ] || fail "the resized container was restarted"
resize '{"requests":{"cpu":"5000","memory":"32Mi"},"limits":{"cpu":"5000","memory":"64Mi"}}'
want "Infeasible" state size '.status.conditions[?(@.type=="PodResizePending")].reason'

# A guest in a running pod.
pod host 'containers: [{name: main, image: x, command: [sh, -c, "exec sleep 7654321"]}]'
want "Running" state host .status.phase
kubectl debug host --image x --target main --container guest -- sh -c 'ps ax | grep "[s]leep 7654321"; exec sleep 100' >/dev/null 2>&1 ||
  fail "kubectl debug was refused"
want "sleep 7654321" kubectl logs host -c guest
want "guest" state host '.status.ephemeralContainerStatuses[0].name'
want "hello guest" kubectl exec host -c guest -- echo hello guest
[ "$(state host "$first.restartCount")" = 0 ] || fail "the guest disturbed its host"

# Kernel parameters of its own network, and none of the machine's; a value the kernel refuses is told.
mine=$(cat /proc/sys/net/ipv4/ip_unprivileged_port_start)
tuned() { echo "securityContext: {sysctls: [{name: $1, value: \"$2\"}]}, restartPolicy: Never, containers: [{name: main, image: x, command: [sh, -c, \"cat /proc/sys/net/ipv4/ip_unprivileged_port_start\"]}]"; }
pod tuned "$(tuned net.ipv4.ip_unprivileged_port_start 1017)"
want "1017" kubectl logs tuned
[ "$(cat /proc/sys/net/ipv4/ip_unprivileged_port_start)" = "$mine" ] || fail "the machine's own parameter changed"
pod greedy "$(tuned kernel.msgmax 65536)"
want "SysctlForbidden" state greedy .status.reason
pod wrong "$(tuned net.ipv4.ip_local_port_range few)"
want "sysctl net.ipv4.ip_local_port_range = few" kubectl get events --field-selector involvedObject.name=wrong -o 'jsonpath={.items[*].message}'

# One family of processes.
pod family 'shareProcessNamespace: true, containers: [{name: a, image: x, command: [sh, -c, "exec sleep 1234567"]},
  {name: b, image: x, command: [sh, -c, "sleep 1; ps ax | grep -c \"[s]leep 1234567\"; exec sleep 1000"]}]'
want "Running" state family .status.phase
want "1" kubectl logs family -c b
kubectl exec family -c b -- sh -c 'kill $(pgrep -f "[s]leep 1234567")' || fail "a container of the family could not be told to end"
want "1" kubectl get pod family -o 'jsonpath={.status.containerStatuses[?(@.name=="a")].restartCount}'
want "0" kubectl get pod family -o 'jsonpath={.status.containerStatuses[?(@.name=="b")].restartCount}'

# A claim: data outlives the pod, and goes with the claim.
kubectl apply -f - >/dev/null <<'Y'
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 100Mi}}}
Y
want "Bound" kubectl get pvc data -o 'jsonpath={.status.phase}'
claimant='restartPolicy: Never, volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]'
pod writer "$claimant"', containers: [{name: main, image: x, command: [sh, -c, "echo kept > /data/file"], volumeMounts: [{name: v, mountPath: /data}]}]'
want "Succeeded" state writer .status.phase
kubectl delete pod writer >/dev/null
kubectl apply -f - >/dev/null <<'Y'
apiVersion: v1
kind: Pod
metadata: {name: reader}
spec:
  restartPolicy: Never
  containers: [{name: main, image: x, command: [cat, /data/file], volumeMounts: [{name: v, mountPath: /data, readOnly: true}]}]
  volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]
Y
want "kept" kubectl logs reader
volume=$(kubectl get pvc data -o 'jsonpath={.spec.volumeName}')
want "deleted" kubectl delete pod reader
want "deleted" kubectl delete pvc data
want "NotFound" kubectl get pv "$volume"
[ -e "$dir/state/volumes/$volume" ] && fail "the data of a deleted claim is still there"

# Ports of the machine, over TCP and UDP; a service over UDP.
port=$((20000 + RANDOM % 10000))
server='import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\ns.bind((\"\", 5300))\nwhile True:\n    data, who = s.recvfrom(1000)\n    s.sendto(b\"echo \" + data, who)'
pod ports "containers: [{name: web, image: x, command: [python3, -m, http.server, \"8080\"], workingDir: /usr/share, ports: [{containerPort: 8080, hostPort: $port}]},
  {name: udp, image: x, command: [python3, -c, \"$server\"], ports: [{containerPort: 5300, hostPort: $port, protocol: UDP}]}]"
want "Running" state ports .status.phase
get="import urllib.request; print(urllib.request.urlopen('http://127.0.0.1:$port/', timeout=5).read().decode())"
want "Directory listing" python3 -c "$get"
ask() { python3 -c "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(2); s.sendto(b'hi', ('$1', $2)); print(s.recv(100).decode())"; }
want "echo hi" ask 127.0.0.1 "$port"
pod taken "containers: [{name: main, image: x, command: [sleep, \"1000\"], ports: [{containerPort: 80, hostPort: $port}]}]"
want "HostPortConflict" kubectl get events --field-selector involvedObject.name=taken
kubectl apply -f - >/dev/null <<'Y'
apiVersion: v1
kind: Service
metadata: {name: names}
spec: {selector: {app: ports}, ports: [{name: dns, port: 53, targetPort: 5300, protocol: UDP}]}
Y
want "5300" kubectl get endpoints names
want "echo hi" ask "$(kubectl get service names -o 'jsonpath={.spec.clusterIP}')" 53
kubectl delete pod ports >/dev/null
want "refused" python3 -c "$get"

# Static manifests: they appear, change and go with their files.
static() { printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: fixed}\nspec: {terminationGracePeriodSeconds: 1, containers: [{name: main, image: x, command: [sh, -c, "echo %s; exec sleep 1000"]}]}\n' "$1"; }
static one >"$dir/static/fixed.yaml"
want "one" kubectl logs fixed-n1
want "file" state fixed-n1 '.metadata.annotations.kubernetes\.io/config\.source'
static two >"$dir/static/fixed.yaml"
tries=120 want "two" kubectl logs fixed-n1
kubectl delete pod fixed-n1 >/dev/null
tries=120 want "two" kubectl logs fixed-n1
rm "$dir/static/fixed.yaml"
tries=120 want "not found" kubectl get pod fixed-n1

# What the machine cannot give is named.
if ! command -v nft >/dev/null && ! command -v iptables >/dev/null; then
  want "NoRouteOut" kubectl get events -A --field-selector involvedObject.name=n1
  want "neither nft nor iptables is installed" "$mangrove" check node
fi
want "yes network namespace" sh -c "$mangrove check node | tr -s ' '"
kubectl delete pods --all --grace-period 1 >/dev/null
