#!/usr/bin/env bash
# Everything together: a Deployment is rolled out, a Job completes, a profile changes pods at admission, the node is measured and
# sold, and `mangrove run` is a command like any other.
source "$(dirname "$0")/lib/up.sh"
up_start
want "n1" kubectl get nodemetric
want "n1" kubectl get nodeslo

kubectl apply -f - >/dev/null <<'Y' || fail "the objects were refused"
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web, koordinator.sh/qosClass: LS}}
    spec:
      schedulerName: koord-scheduler
      priorityClassName: koord-prod
      terminationGracePeriodSeconds: 1
      containers: [{name: c, image: "registry.local/some/program:1.25", resources: {requests: {cpu: 50m}, limits: {cpu: 100m}}}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: j}
spec: {completions: 3, parallelism: 2, template: {spec: {restartPolicy: Never, containers: [{name: c, image: x, command: [sh, -c, "echo done"]}]}}}
---
apiVersion: config.koordinator.sh/v1alpha1
kind: ClusterColocationProfile
metadata: {name: batch}
spec:
  selector: {matchLabels: {colocate: "yes"}}
  qosClass: BE
  priorityClassName: koord-batch
  schedulerName: koord-scheduler
  labels: {touched: by-profile}
Y
want "successfully rolled out" timeout 60 kubectl rollout status deploy/web
want "condition met" timeout 60 kubectl wait --for=condition=complete job/j
want "StandIn" kubectl get events
want "deployment.apps/web scaled" kubectl scale deploy web --replicas 3
want "3/3" kubectl get deploy web
kubectl apply -f - >/dev/null <<'Y'
apiVersion: v1
kind: Pod
metadata: {name: colocated, labels: {colocate: "yes"}}
spec: {containers: [{name: c, image: x, command: ["true"], resources: {requests: {cpu: 500m, memory: 16Mi}, limits: {cpu: 500m, memory: 16Mi}}}]}
Y
want "by-profile" state colocated '.metadata.labels.touched'
want "BE" state colocated '.metadata.labels.koordinator\.sh/qosClass'
want "batch-cpu" state colocated '.spec.containers[0].resources.requests'

# A command as a pod: output, errors, directory, environment, exit code, interruption.
cd "$dir" || exit 1
tries=1 want "out here $dir" env GREETING=here "$mangrove" run --qos LS --cpu 100m -- sh -c 'echo out $GREETING $PWD'
"$mangrove" run --qos LS -- sh -c 'echo err >&2; exit 9' >/dev/null 2>"$dir/err"; code=$?
[ $code -eq 9 ] || fail "mangrove run returned $code instead of 9"
want "err" cat "$dir/err"
"$mangrove" run --qos LS --name stoppable -- sh -c 'trap "exit 0" TERM; echo trapped; while :; do sleep 0.1; done' >"$dir/said" & run=$!
want "trapped" cat "$dir/said"  # Running comes before the shell has read its first word
kill -TERM "$run"; wait "$run"; code=$?
[ $code -eq 0 ] || fail "a command that ends well when it is told to returned $code instead of 0"
want "not found" kubectl get pod stoppable
cd / || exit 1
kubectl delete deploy,job --all >/dev/null
want "No resources found" kubectl get pods -l app=web
kubectl delete pods --all >/dev/null
