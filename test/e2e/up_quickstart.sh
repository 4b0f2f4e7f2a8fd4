#!/usr/bin/env bash
# The founding quick start's four manifests, unchanged, on one machine: all side by side where there are enough CPUs (test/vm
# does that with 16), else one after the other, and what cannot fit says so.
source "$(dirname "$0")/lib/up.sh"
here=$(cd "$(dirname "$0")" && pwd)
up_start
tries=120 want "batch-cpu" kubectl get node n1 -o 'jsonpath={.status.allocatable}'
cpus=$(kubectl get node n1 -o 'jsonpath={.status.allocatable.cpu}')
batch=$(kubectl get node n1 -o 'jsonpath={.status.allocatable.kubernetes\.io/batch-cpu}')
running() { tries=120 want "Running" kubectl get pods -l "app=nginx-$1" -o 'jsonpath={.items[*].status.phase}'; }
if [ "$cpus" -ge 8 ]; then
  kubectl apply -f "$here/quickstart" >/dev/null || fail "the manifests were refused"
  for one in lse lsr ls be; do running "$one"; done
else
  for one in lse lsr ls be; do
    kubectl apply -f "$here/quickstart/nginx-$one.yaml" >/dev/null || fail "nginx-$one was refused"
    if { [ "$one" = be ] && [ "${batch:-0}" -lt 2000 ]; } || [ "$cpus" -lt 2 ]; then
      want "Insufficient" kubectl get pods -l "app=nginx-$one" -o 'jsonpath={.items[*].status.conditions[*].message}'
    else
      running "$one"
      want "1/1" kubectl get deploy "nginx-$one"
    fi
    kubectl delete deploy "nginx-$one" >/dev/null
    tries=120 want "No resources found" kubectl get pods -l "app=nginx-$one"
  done
fi
kubectl delete deploy --all >/dev/null
tries=120 want "No resources found" kubectl get pods
