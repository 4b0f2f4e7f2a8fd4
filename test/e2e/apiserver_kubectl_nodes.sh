#!/usr/bin/env bash
# Nodes and the end of things: taint, cordon, drain with budgets, deletion with every propagation policy.
source "$(dirname "$0")/lib/apiserver.sh"
start
node() { printf '{"apiVersion":"v1","kind":"Node","metadata":{"name":"%s"},"status":{"capacity":{"cpu":"4"},"conditions":[{"type":"Ready","status":"True"}]}}' "$1" | kubectl apply -f - >/dev/null; }
node n1
node n2
pod() {  # pod NAME OWNER-KIND|- [EXTRA SPEC]
  local owner=
  [ "$2" = - ] || owner=$(printf ',"ownerReferences":[{"apiVersion":"apps/v1","kind":"%s","name":"%s","uid":"%s","controller":true}]' \
    "$2" own "$(kubectl get "$2" own -o 'jsonpath={.metadata.uid}')")
  printf '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"%s","labels":{"app":"%s"}%s},"spec":{"nodeName":"n1","terminationGracePeriodSeconds":0,"containers":[{"name":"c","image":"i"}]%s}}' \
    "$1" "$1" "$owner" "${3:-}" | kubectl apply -f - >/dev/null
  kubectl patch pod "$1" --subresource=status --type=merge -p '{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}' >/dev/null
}

want "node/n1 tainted" kubectl taint node n1 a=b:NoSchedule
refused "already has" kubectl taint node n1 a=b:NoSchedule
want "node/n1 modified" kubectl taint node n1 a=c:NoSchedule --overwrite
same "a=c:NoSchedule" kubectl get node n1 -o 'jsonpath={.spec.taints[0].key}={.spec.taints[0].value}:{.spec.taints[0].effect}'
want "node/n1 untainted" kubectl taint node n1 a-
want "node/n1 cordoned" kubectl cordon n1
want "Ready,SchedulingDisabled" kubectl get node n1
want "already cordoned" kubectl cordon n1
want "node/n1 uncordoned" kubectl uncordon n1

# Drain: what it refuses, what it waits for, what a budget forbids.
selector='"selector":{"matchLabels":{"app":"own"}},"template":{"metadata":{"labels":{"app":"own"}},"spec":{"containers":[{"name":"c","image":"i"}]}}'
for kind in ReplicaSet DaemonSet; do
  printf '{"apiVersion":"apps/v1","kind":"%s","metadata":{"name":"own"},"spec":{%s}}' $kind "$selector" | kubectl apply -f - >/dev/null
done
pod free -
pod owned ReplicaSet
pod daemon DaemonSet
pod scratch ReplicaSet ',"volumes":[{"name":"v","emptyDir":{}}]'
refused "cannot delete Pods that declare no controller" kubectl drain n1
refused "cannot delete DaemonSet-managed Pods" kubectl drain n1 --force
refused "cannot delete Pods with local storage" kubectl drain n1 --force --ignore-daemonsets
kubectl apply -f - >/dev/null <<<'{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"keep"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"owned"}}}}'
kubectl patch pdb keep --subresource=status --type=merge -p '{"status":{"observedGeneration":1,"disruptionsAllowed":0,"currentHealthy":1,"desiredHealthy":1,"expectedPods":1}}' >/dev/null
refused "Cannot evict pod as it would violate the pod's disruption budget" kubectl drain n1 --force --ignore-daemonsets --delete-emptydir-data --timeout=3s
kubectl delete pdb keep >/dev/null
want "node/n1 drained" kubectl drain n1 --force --ignore-daemonsets --delete-emptydir-data --timeout=30s
same "pod/daemon" kubectl get pods -o name
kubectl uncordon n1 >/dev/null
pod again ReplicaSet
want "node/n1 drained" kubectl drain n1 --ignore-daemonsets --disable-eviction --timeout=30s
same "pod/daemon" kubectl get pods -o name

# Deletion: dependents follow, wait, or stay.
family() {  # a deployment with one replica set with one pod
  kubectl delete deploy,rs,pod --all --force --grace-period=0 >/dev/null 2>&1 || true
  printf '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"own"},"spec":{%s}}' "$selector" | kubectl apply -f - >/dev/null
  printf '{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"own","ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":"own","uid":"%s","controller":true,"blockOwnerDeletion":true}]},"spec":{%s}}' \
    "$(kubectl get deploy own -o 'jsonpath={.metadata.uid}')" "$selector" | kubectl apply -f - >/dev/null
  pod child ReplicaSet
}
family
want "deleted" kubectl delete deploy own
eventually want "No resources found" kubectl get rs,pods -l '!x' --field-selector metadata.name!=daemon
family
want "deleted" kubectl delete deploy own --cascade=foreground --timeout=20s
want "No resources found" kubectl get rs
family
want "deleted" kubectl delete deploy own --cascade=orphan
want "own" kubectl get rs
same "" kubectl get rs own -o 'jsonpath={.metadata.ownerReferences}'
want "deleted" kubectl delete rs own --cascade=background --wait=false

kubectl apply -f - >/dev/null <<'Y'
apiVersion: v1
kind: Pod
metadata: {name: slow, labels: {app: slow}}
spec: {nodeName: n2, containers: [{name: c, image: i}]}
---
apiVersion: v1
kind: Pod
metadata: {name: quick}
spec: {nodeName: n2, containers: [{name: c, image: i}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: held, finalizers: [test.example.org/hold]}
Y
want "deleted" kubectl delete pod slow --wait=false
same "30" kubectl get pod slow -o 'jsonpath={.metadata.deletionGracePeriodSeconds}'
want "Terminating" kubectl get pod slow
want "deleted" kubectl delete pod slow --now --wait=false
same "1" kubectl get pod slow -o 'jsonpath={.metadata.deletionGracePeriodSeconds}'
want "force deleted" kubectl delete pod slow --force --grace-period=0
want "No resources found" kubectl delete pod -l app=slow --wait=false
want "deleted" kubectl delete cm held --wait=false
refused "timed out" kubectl delete cm held --timeout=1s
same '["test.example.org/hold"]' kubectl get cm held -o 'jsonpath={.metadata.finalizers}'
want "patched" kubectl patch cm held --type=merge -p '{"metadata":{"finalizers":null}}'
refused "not found" kubectl get cm held
want "deleted" kubectl delete pods --all --force --grace-period=0
want "No resources found" kubectl get pods
want "deleted (server dry run)" kubectl delete node n2 --dry-run=server
want "deleted" kubectl delete node n1 n2
refused "not found" kubectl delete node n1
kubectl apply -f - >/dev/null <<<'{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"end"}}'
kubectl -n end apply -f - >/dev/null <<<'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"held","finalizers":["a.b/c"]}}'
want "deleted" kubectl delete ns end --wait=false
refused "because it is being terminated" kubectl -n end create -f - <<<'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"late"}}'
want "Terminating" kubectl get ns end
want "NamespaceFinalizersRemaining" kubectl get ns end -o yaml
kubectl -n end patch cm held --type=merge -p '{"metadata":{"finalizers":null}}' >/dev/null
same "" kubectl wait --for=delete ns/end --timeout=20s
refused "not found" kubectl get ns end
refused "forbidden" kubectl delete ns kube-system
all_good
