#!/usr/bin/env bash
# YARN 3.4.2 for real, by examples/yarn: a ResourceManager as an ordinary pod of `mangrove up`, a NodeManager as a best-effort one, and
# `mangrove yarn sync` between them. Capacity follows what is for sale (memory): down within 5 s, up within 65 s; distributed shell and
# MapReduce end well; a registration that forgets, and a killed `yarn sync`, are mended.
source "$(dirname "$0")/../e2e/lib/up.sh"
source "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
command -v java >/dev/null || skip "there is no java"
export YARN_HOME=${YARN_HOME:-/opt/mangrove-batch/yarn}
"$root/test/batch/fetch_yarn" || exit $?

sync_pid=
trap 'kill $sync_pid 2>/dev/null; finish' EXIT
up_start --feature-gates YarnNodeManager=true
sell
want "kubernetes.io/batch-memory" kubectl get node n1 -o 'jsonpath={.status.allocatable}'
# The example as it is written, but for where the jars are.
mkdir "$dir/yarn" && cp -r "$root/examples/yarn/." "$dir/yarn" && sed -i "s#/opt/yarn/#$YARN_HOME/#g" "$dir/yarn"/*.yaml "$dir/yarn/conf"/*
kubectl create configmap yarn --from-file="$dir/yarn/conf" >/dev/null
kubectl apply -f "$dir/yarn/yarn.yaml" >/dev/null || fail "the example was refused"
rm_url=http://$(kubectl get service rm -o 'jsonpath={.spec.clusterIP}'):8088 id=nm:45454
ask() { curl -s -m 5 "$rm_url/ws/v1/cluster/$1"; }
tries=1600 want '"state":"RUNNING"' ask nodes
[ "$failures" -eq 0 ] || { kubectl get pods; kubectl logs nm | tail -3; exit 1; }
sync() {
  "$mangrove" yarn sync --feature-gates=YarnNodeManager=true --kubeconfig "$KUBECONFIG" --resourcemanager "$rm_url" --leader-elect=false \
    --metrics-bind-address 0 >>"$dir/sync.log" 2>&1 & sync_pid=$!
}
memory() { ask nodes | python3 -c 'import json, sys; n = json.load(sys.stdin)["nodes"]["node"][0]; print(n["usedMemoryMB"] + n["availMemoryMB"])' 2>/dev/null || echo 0; }
sold() { kubectl get node n1 -o 'jsonpath={.status.allocatable.kubernetes\.io/batch-memory}' | python3 -c '
import sys; t = sys.stdin.read(); u = {"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}; print(int(t[:-2]) * u[t[-2:]] if t[-2:] in u else int(t))'; }
within() {  # within SECONDS WHAT COMMAND…
  local limit=$1 what=$2 start; shift 2
  start=$(date +%s%N)
  until "$@"; do
    [ $(($(date +%s%N) - start)) -lt $((limit * 1000000000)) ] || { fail "$what: not within $limit s (now $(memory) MB)"; return; }
    sleep 0.1
  done
  echo "$what after $((($(date +%s%N) - start) / 1000000)) ms: $(memory) MB"
}
above() { [ "$(memory)" -gt "$1" ]; }
below() { [ "$(memory)" -lt "$1" ]; }
sync
within 10 "the first capacity" above 1024
full=$(memory)

# A batch pod takes half of what is for sale: less at once. It goes: more within a minute.
half=$(($(sold) / 2 / 1048576))
taker() {
  kubectl apply -f - >/dev/null <<Y || fail "the pod was refused"
apiVersion: v1
kind: Pod
metadata: {name: taker, labels: {koordinator.sh/qosClass: BE}}
spec:
  priorityClassName: koord-batch
  terminationGracePeriodSeconds: 1
  containers:
  - {name: c, image: x, command: [sleep, "1000"], resources: {requests: {kubernetes.io/batch-memory: ${half}Mi}, limits: {kubernetes.io/batch-memory: ${half}Mi}}}
Y
}
taker
within 5 "less" below $((full * 3 / 4))
kubectl delete pod taker --now --wait=false >/dev/null
within 65 "more" above $((full * 3 / 4))

# Jobs of YARN's own.
kubectl apply -f "$dir/yarn/jobs.yaml" >/dev/null || fail "the jobs were refused"
for job in shell words; do
  tries=1600 want "1" kubectl get job $job -o 'jsonpath={.status.succeeded}{.status.failed}'
  [ "$(kubectl get job $job -o 'jsonpath={.status.succeeded}')" = 1 ] || { fail "$job failed"; kubectl logs job/$job | tail -20; }
done
[ "$(ask apps | grep -o '"finalStatus":"SUCCEEDED"' | wc -l)" = 2 ] || fail "not both applications succeeded"
[ "$(kubectl logs job/words | grep -P '^(one|two)\t' | tr '\t\n' '= ')" = "one=4000 two=8000 " ] || { fail "the words are miscounted"; kubectl logs job/words | tail -3; }
want hadoop-yarn kubectl get node n1 -o 'jsonpath={.metadata.annotations.node\.koordinator\.sh/thirdPartyAllocations}'
want '"memoryMb"' kubectl get pod nm -o 'jsonpath={.metadata.annotations.colocation\.mangrove\.io/yarn-capacity}'

# Killed and gone; somebody else changes the capacity meanwhile; the successor mends it.
kill -9 "$sync_pid"; wait "$sync_pid" 2>/dev/null
curl -s -m 5 -X POST -H 'Content-Type: application/json' "$rm_url/ws/v1/cluster/nodes/$id/resource?user.name=yarn" -o /dev/null \
  -d '{"resource":{"memory":512,"vCores":1,"resourceInformations":{"resourceInformation":[{"name":"memory-mb","units":"Mi","value":512,"resourceType":"COUNTABLE"},{"name":"vcores","units":"","value":1,"resourceType":"COUNTABLE"}]}},"overCommitTimeout":-1}'
below 1024 || fail "the capacity was not changed by hand"
sync
within 60 "right again" above $((full * 3 / 4))
kill "$sync_pid"; wait "$sync_pid" 2>/dev/null
