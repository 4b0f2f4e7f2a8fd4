#!/usr/bin/env bash
# What manifests take for granted besides Deployments: a ReplicationController keeps its pods, and a HorizontalPodAutoscaler, made by a stock
# `kubectl autoscale`, follows the load that the agent of this machine measures, up and down; `kubectl top` shows it.
source "$(dirname "$0")/lib/up.sh"
up_start
kubectl apply -f - >/dev/null <<Y || fail "the replication controller was refused"
apiVersion: v1
kind: ReplicationController
metadata: {name: old}
spec:
  replicas: 2
  selector: {app: old}
  template:
    metadata: {labels: {app: old}}
    spec: {terminationGracePeriodSeconds: 1, containers: [{name: c, image: x, command: [sleep, "1000"]}]}
Y
want '2/2/2' kubectl get rc old -o 'jsonpath={.spec.replicas}/{.status.replicas}/{.status.readyReplicas}'
kubectl delete pod -l app=old --wait=false >/dev/null
want '2/2/2' kubectl get rc old -o 'jsonpath={.spec.replicas}/{.status.replicas}/{.status.readyReplicas}'
kubectl scale rc old --replicas 1 >/dev/null
want '1/1/1' kubectl get rc old -o 'jsonpath={.spec.replicas}/{.status.replicas}/{.status.readyReplicas}'
kubectl delete rc old >/dev/null

kubectl apply -f - >/dev/null <<Y || fail "the deployment was refused"
apiVersion: apps/v1
kind: Deployment
metadata: {name: busy}
spec:
  selector: {matchLabels: {app: busy}}
  template:
    metadata: {labels: {app: busy}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: c, image: x, command: [sh, -c, "while [ ! -e /tmp/calm ]; do sleep 0.02; done; sleep 1000"], resources: {requests: {cpu: 5m}}}]
Y
# Little in itself, much of what it asked for: other tests beside this one measure.
kubectl autoscale deployment busy --cpu-percent=50 --min=1 --max=3 >/dev/null || fail "kubectl autoscale was refused"
kubectl patch hpa busy --type merge -p '{"spec":{"behavior":{"scaleDown":{"stabilizationWindowSeconds":0}}}}' >/dev/null
tries=900 want "3/3" kubectl get deploy busy --no-headers
# What it goes by is what `kubectl top` shows.
want "busy-" kubectl top pods -l app=busy --no-headers
want " c " kubectl top pods -l app=busy --containers --no-headers
never "busy-" kubectl top pods -l app=other
want "%" kubectl top nodes --no-headers
want "SuccessfulRescale" kubectl get events --field-selector involvedObject.name=busy
want "ScalingActive=True" kubectl get hpa busy -o 'jsonpath={range .status.conditions[*]}{.type}={.status} {end}'
for pod in $(kubectl get pods -l app=busy -o name); do kubectl exec "$pod" -- touch /tmp/calm || fail "no exec in $pod"; done
tries=900 want "1/1" kubectl get deploy busy --no-headers
want "below target" kubectl get events --field-selector involvedObject.name=busy

# One that cannot work says why.
kubectl autoscale deployment nobody --cpu-percent=50 --max=3 >/dev/null 2>&1 || true
kubectl apply -f - >/dev/null <<Y || fail "the autoscaler was refused"
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: lost}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: nobody}
  maxReplicas: 3
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
Y
want "there is no Deployment default/nobody" kubectl get hpa lost -o 'jsonpath={.status.conditions[*].message}'
