#!/usr/bin/env bash
# `migrate check`, `migrate off` and `support-bundle` on a live API with what a cluster of Koordinator's has on it.
source "$(dirname "$0")/../e2e/lib/apiserver.sh"
start
kubectl create namespace koordinator-system >/dev/null
kubectl create -f - >/dev/null <<'Y'
apiVersion: apps/v1
kind: Deployment
metadata: {name: koord-manager, namespace: koordinator-system}
spec:
  selector: {matchLabels: {koord-app: koord-manager}}
  template:
    metadata: {labels: {koord-app: koord-manager}}
    spec: {containers: [{name: m, image: "registry.local/koord-manager:v1.6.0", command: [/koord-manager], args: ["--enable-leader-election", "--sync-period=1h", "--feature-gates=MultiQuotaTree=true"]}]}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: koordlet, namespace: koordinator-system}
spec:
  selector: {matchLabels: {koord-app: koordlet}}
  template:
    metadata: {labels: {koord-app: koordlet}}
    spec: {containers: [{name: k, image: "registry.local/koordlet:v1.6.0", command: [/koordlet], args: ["-cgroup-root-dir=/host-cgroup/", "--tsdb-path=/x", "--made-up=1"], env: [{name: PASSPHRASE, value: swordfish}]}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: slo-controller-config, namespace: koordinator-system}
data: {colocation-config: '{"enable":true}'}
---
apiVersion: v1
kind: Node
metadata: {name: n1, annotations: {node.koordinator.sh/originExtendedAllocatable: "{}"}}
spec: {taints: [{key: colocation.mangrove.io/colocation-cooldown, effect: NoSchedule}, {key: theirs, effect: NoSchedule}]}
status:
  capacity: {cpu: "8", memory: 16Gi, kubernetes.io/batch-cpu: "3000"}
  allocatable: {cpu: "8", memory: 16Gi, kubernetes.io/batch-cpu: "3000"}
Y

# Exit code 1: a flag is not supported. The rest is said too.
refused 'not supported  koordinator-system/koordlet' "$mangrove" migrate check
refused '--made-up=1' "$mangrove" migrate check
refused 'history is a fixed ring' "$mangrove" migrate check
refused '"verdict": "better"' "$mangrove" migrate check -o json
refused 'compared with this version' "$mangrove" migrate check

want ' files in ' "$mangrove" support-bundle --out "$dir/bundle"
want 'koordlet:v1.6.0' cat "$dir/bundle/daemonsets.json"
lacks swordfish cat "$dir/bundle/daemonsets.json"
want 'check' ls "$dir/bundle"
refused 'is there already' "$mangrove" support-bundle --out "$dir/bundle"

# Nothing without --yes; then what is ours goes and the rest stays.
want 'nothing was changed' "$mangrove" migrate off
want 'batch-cpu' kubectl get node n1 -o 'jsonpath={.status.allocatable}'
want 'taken away: amounts for sale of node n1' "$mangrove" migrate off --yes
lacks batch kubectl get node n1 -o 'jsonpath={.status}{.metadata.annotations}'
want '"cpu":"8"' kubectl get node n1 -o 'jsonpath={.status.allocatable}'
same theirs kubectl get node n1 -o 'jsonpath={.spec.taints[*].key}'
want 'nothing of ours is left' "$mangrove" migrate off
refused 'want kinds of koordinator.sh' "$mangrove" migrate off --purge pods

# Not under somebody who would write it again.
kubectl create -f - >/dev/null <<Y
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: koordinator-manager, namespace: koordinator-system}
spec: {holderIdentity: somebody, leaseDurationSeconds: 15, renewTime: "$(date -u +%FT%T.000000Z)"}
Y
renewed() { kubectl -n koordinator-system patch lease koordinator-manager --type merge -p "{\"spec\":{\"leaseDurationSeconds\":$1,\"renewTime\":\"$(date -u +%FT%T.%6NZ)\"}}" >/dev/null; }
while renewed 15; do sleep 0.5; done &
refused 'is held by somebody' "$mangrove" migrate off --yes
kill $!
wait $! 2>/dev/null || true
# Who is gone does not renew it: no longer than the Lease lasts.
renewed 1
want 'taken away: Lease koordinator-system/koordinator-manager' "$mangrove" migrate off --yes
all_good
