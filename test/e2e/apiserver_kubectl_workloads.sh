#!/usr/bin/env bash
# Workload verbs of stock kubectl that need no controller: scale, autoscale, set, expose, rollout; quota and limits.
source "$(dirname "$0")/lib/apiserver.sh"
start
kubectl apply -f - >/dev/null <<'Y'
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, labels: {app: d}}
spec:
  selector: {matchLabels: {app: d}}
  template:
    metadata: {labels: {app: d}}
    spec: {containers: [{name: c, image: "i:1", ports: [{containerPort: 8080}]}]}
Y
want "deployment.apps/d scaled" kubectl scale deploy d --replicas=3
refused "Expected replicas to be 7, was 3" kubectl scale deploy d --current-replicas=7 --replicas=1
want "image updated" kubectl set image deploy/d c=i:2
want "env updated" kubectl set env deploy/d A=1 B=2
want "A=1" kubectl set env deploy/d --list
want "resource requirements updated" kubectl set resources deploy/d --requests=cpu=100m,memory=64Mi --limits=memory=128Mi
want "serviceaccount updated" kubectl set serviceaccount deploy d robot
same "3 i:2 1 100m robot" kubectl get deploy d -o 'jsonpath={.spec.replicas} {.spec.template.spec.containers[0].image} {.spec.template.spec.containers[0].env[0].value} {.spec.template.spec.containers[0].resources.requests.cpu} {.spec.template.spec.serviceAccountName}'
want "deployment.apps/d paused" kubectl rollout pause deploy d
want "deployment.apps/d resumed" kubectl rollout resume deploy d
want "deployment.apps/d restarted" kubectl rollout restart deploy d
want "No rollout history found" kubectl rollout history deploy d
refused "timed out waiting" kubectl rollout status deploy d --timeout=1s

want "service/d exposed" kubectl expose deploy d --port=80 --target-port=8080
ip=$(kubectl get svc d -o 'jsonpath={.spec.clusterIP}')
case $ip in 10.96.* | 10.9[7-9].* | 10.1[01]?.*) ;; *) complain "a cluster address" "10.96.0.0/12" "$ip" kubectl expose ;; esac
want "service/np exposed" kubectl expose deploy d --name=np --type=NodePort --port=80
nodeport=$(kubectl get svc np -o 'jsonpath={.spec.ports[0].nodePort}')
[ "$nodeport" -ge 30000 ] && [ "$nodeport" -le 32767 ] || complain "a node port" "30000-32767" "$nodeport" kubectl expose
refused "provided IP is already allocated" kubectl create -f - <<<"{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"twice\"},\"spec\":{\"clusterIP\":\"$ip\",\"ports\":[{\"port\":80}]}}"
refused "provided port is already allocated" kubectl create -f - <<<"{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"twice\"},\"spec\":{\"type\":\"NodePort\",\"ports\":[{\"port\":80,\"nodePort\":$nodeport}]}}"

# What the real server's admission adds to a pod.
pod() { printf '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"%s"},"spec":{"containers":[{"name":"c","image":"i"%s}]}}' "$1" "${2:-}"; }
want "created" kubectl create -f - <<<"$(pod plain)"
same "node.kubernetes.io/not-ready=300 node.kubernetes.io/unreachable=300 " kubectl get pod plain -o 'jsonpath={range .spec.tolerations[*]}{.key}={.tolerationSeconds} {end}'

# Limits give defaults and refuse; quotas count.
kubectl apply -f - >/dev/null <<'Y'
apiVersion: v1
kind: LimitRange
metadata: {name: limits}
spec: {limits: [{type: Container, default: {cpu: 500m}, defaultRequest: {cpu: 100m}, max: {cpu: "1"}}]}
Y
want "created" kubectl create -f - <<<"$(pod limited)"
same "100m 500m" kubectl get pod limited -o 'jsonpath={.spec.containers[0].resources.requests.cpu} {.spec.containers[0].resources.limits.cpu}'
refused "maximum cpu usage per Container is 1, but limit is 2" kubectl create -f - <<<"$(pod big ',"resources":{"limits":{"cpu":"2"}}')"
kubectl delete limits limits >/dev/null
kubectl apply -f - >/dev/null <<'Y'
apiVersion: v1
kind: ResourceQuota
metadata: {name: quota}
spec: {hard: {pods: "3", requests.cpu: "1", count/configmaps: "100"}}
Y
eventually want '"pods":"2"' kubectl get quota quota -o 'jsonpath={.status.used}'
refused "must specify requests.cpu for: c" kubectl create -f - <<<"$(pod silent)"
want "created" kubectl create -f - <<<"$(pod counted ',"resources":{"requests":{"cpu":"500m"}}')"
same '{"count/configmaps":"1","pods":"3","requests.cpu":"600m"}' kubectl get quota quota -o 'jsonpath={.status.used}'
refused "exceeded quota: quota, requested: pods=1, used: pods=3, limited: pods=3" kubectl create -f - <<<"$(pod many ',"resources":{"requests":{"cpu":"100m"}}')"
kubectl delete pod plain --force --grace-period=0 >/dev/null 2>&1
eventually want '"pods":"2"' kubectl get quota quota -o 'jsonpath={.status.used}'
want "created" kubectl create -f - <<<"$(pod again ',"resources":{"requests":{"cpu":"100m"}}')"
all_good
