#!/usr/bin/env bash
# One pod reaches another through a Service's address, found by its variables and by its name; files from a ConfigMap; what misbehaving pods do.
source "$(dirname "$0")/lib/up.sh"
command -v python3 >/dev/null || skip "there is no python3"
up_start --load-balancer-address 127.0.0.1
pod server 'containers: [{name: main, image: x, command: [python3, -m, http.server, "8080"], workingDir: /usr/share}]'
want "Running" state server .status.phase
ip=$(state server .status.podIP)
# A service without selector and endpoints by hand: the controllers leave both alone and mirror the endpoints into a slice.
kubectl apply -f - >/dev/null <<Y
apiVersion: v1
kind: Service
metadata: {name: my-web}
spec: {ports: [{name: http, port: 80}]}
---
apiVersion: v1
kind: Endpoints
metadata: {name: my-web}
subsets: [{addresses: [{ip: $ip}], ports: [{name: http, port: 8080}]}]
Y
address=$(kubectl get service my-web -o 'jsonpath={.spec.clusterIP}')
[ -n "$address" ] || fail "the service has no address"
want "Directory listing" python3 -c "import urllib.request; print(urllib.request.urlopen('http://$address/', timeout=5).read().decode())"
# Who gets the address next is known under the same hardware address: nobody's cache is wrong about it.
want "$(printf '0a:6d:%02x:%02x:%02x:%02x' ${ip//./ })" ip neigh show "$ip" dev "$bridge"
want "$(printf '0a:6d:%02x:%02x:%02x:%02x' $(echo "${subnet%.0/24}.1" | tr . ' '))" ip link show "$bridge"
pod client 'restartPolicy: Never, containers: [{name: main, image: x, command: [python3, -c, "import os, urllib.request as u; e = os.environ; print(u.urlopen(\"http://%s:%s/\" % (e[\"MY_WEB_SERVICE_HOST\"], e[\"MY_WEB_SERVICE_PORT\"]), timeout=5).read().decode())"]}]'
want "Succeeded" state client .status.phase
want "Directory listing" kubectl logs client
# By name: short, whole, and what does not exist; a headless service gives its pods, an ExternalName the name outside.
kubectl apply -f - >/dev/null <<Y
apiVersion: v1
kind: Service
metadata: {name: members}
spec: {clusterIP: None, ports: [{name: http, port: 8080}]}
---
apiVersion: v1
kind: Endpoints
metadata: {name: members}
subsets: [{addresses: [{ip: $ip, hostname: first}], ports: [{name: http, port: 8080}]}]
---
apiVersion: v1
kind: Service
metadata: {name: elsewhere}
spec: {type: ExternalName, externalName: first.members.default.svc.cluster.local}
Y
# A node port is open on every address of the machine.
kubectl patch service my-web -p '{"spec":{"type":"NodePort"}}' >/dev/null
port=$(kubectl get service my-web -o 'jsonpath={.spec.ports[0].nodePort}')
want "Directory listing" python3 -c "import urllib.request; print(urllib.request.urlopen('http://127.0.0.1:$port/', timeout=5).read().decode())"
# A service of type LoadBalancer is reached at the address that was asked for, by its own port, and its status says where.
kubectl apply -f - >/dev/null <<Y
apiVersion: v1
kind: Service
metadata: {name: outside}
spec: {type: LoadBalancer, ports: [{name: http, port: 18099}]}
---
apiVersion: v1
kind: Endpoints
metadata: {name: outside}
subsets: [{addresses: [{ip: $ip}], ports: [{name: http, port: 8080}]}]
Y
want "127.0.0.1" kubectl get service outside -o 'jsonpath={.status.loadBalancer.ingress[0].ip}'
want "Directory listing" python3 -c "import urllib.request; print(urllib.request.urlopen('http://127.0.0.1:18099/', timeout=5).read().decode())"
pod asker 'containers: [{name: main, image: x, command: [sleep, "1000"]}]'
want "Running" state asker .status.phase
for name in my-web my-web.default my-web.default.svc.cluster.local; do want "$address" kubectl exec asker -- getent hosts "$name"; done
for name in members first.members elsewhere; do want "$ip" kubectl exec asker -- getent hosts "$name"; done
want "Directory listing" kubectl exec asker -- python3 -c "import urllib.request as u; print(u.urlopen('http://my-web/', timeout=5).read().decode())"
kubectl exec asker -- getent hosts nobody.default.svc.cluster.local && fail "a name that does not exist was found"
want "search default.svc.cluster.local svc.cluster.local cluster.local" kubectl exec asker -- cat /etc/resolv.conf
pod chosen 'dnsPolicy: None, dnsConfig: {nameservers: [192.0.2.1], searches: [lab], options: [{name: ndots, value: "2"}]}, containers: [{name: main, image: x, command: [sleep, "1000"]}]'
want "Running" state chosen .status.phase
want "options ndots:2" kubectl exec chosen -- cat /etc/resolv.conf
kubectl delete pod asker chosen --wait=false >/dev/null
# Pods reach the API server at the bridge's address, which its certificate names; without a credential they get no further than its version.
api=https://${subnet%.0/24}.1:$(kubectl config view -o 'jsonpath={.clusters[0].cluster.server}' | sed 's/.*://')
want "kube-system" kubectl --server="$api" get namespaces
pod caller "restartPolicy: Never, containers: [{name: main, image: x, command: [python3, -c, 'import ssl, urllib.request as u; print(u.urlopen(\"$api/version\", context=ssl._create_unverified_context(), timeout=5).read().decode())']}]"
want "Succeeded" state caller .status.phase
want "gitVersion" kubectl logs caller
want "deleted" kubectl delete service my-web
for _ in $(seq 40); do ip addr show "$bridge" | grep -q "$address/32" || break; sleep 0.1; done
ip addr show "$bridge" | grep -q "$address/32" && fail "the address of a deleted service is still there"

# It ignores SIGTERM, runs away by forking twice, and floods its log; it ends all the same, within bounds.
pod stubborn 'terminationGracePeriodSeconds: 1, containers: [{name: main, image: x, command: [sh, -c,
  "trap : TERM INT; (setsid sh -c \"trap : TERM; sleep 987654\" &) ; while :; do sleep 1; done"]}]'
want "Running" state stubborn .status.phase
kubectl delete pod stubborn >/dev/null
want "not found" kubectl get pod stubborn
for _ in $(seq 20); do pgrep -f "sleep 98765[4]" >/dev/null || break; sleep 0.1; done
pgrep -f "sleep 98765[4]" >/dev/null && fail "a process got away"
pod flood 'restartPolicy: Never, containers: [{name: main, image: x, command: [sh, -c, "yes 0123456789012345678901234567890123456789 | head -c 100000000"]}]'
tries=240 want "Succeeded" state flood .status.phase
[ "$(du -sk "$dir"/state/logs/*flood* | cut -f1)" -lt 70000 ] || fail "the log of a flooding pod is not bounded"
want "0123456789" kubectl logs flood --tail 1

want "deleted" kubectl delete pods --all
