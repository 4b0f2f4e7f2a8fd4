#!/usr/bin/env bash
# Quotas inside `mangrove up`, where no webhook stands between the server and the manager: the questions that the manager has
# to ask the server back (which pods has this quota) are answered all the same.
source "$(dirname "$0")/lib/up.sh"
up_start

quota() {  # quota NAME MIN MAX
  kubectl create -f - 2>&1 <<Y
apiVersion: scheduling.sigs.k8s.io/v1alpha1
kind: ElasticQuota
metadata: {name: $1, namespace: default}
spec: {min: {cpu: "$2", memory: 1Gi}, max: {cpu: "$3", memory: 4Gi}}
Y
}
waiting() { kubectl get pod held -o 'jsonpath={.metadata.labels}'; }

want "created" quota team 1 4
want "more than spec.max allows" quota wrong 12 10
kubectl create -f - >/dev/null <<'Y' || fail "the pod was refused"
apiVersion: v1
kind: Pod
metadata: {name: held, labels: {quota.scheduling.koordinator.sh/name: team}}
spec: {schedulerName: nobody, containers: [{name: c, image: x, resources: {requests: {cpu: 100m}}}]}
Y
want "team" waiting
out=$(kubectl delete elasticquota team 2>&1) && fail "a quota with pods was deleted"
[[ "$out" == *"default/held"* ]] || fail "the refusal does not name the pod: $out"
kubectl delete pod held --grace-period=0 --force >/dev/null 2>&1 || fail "the pod cannot be deleted"
want "deleted" kubectl delete elasticquota team
