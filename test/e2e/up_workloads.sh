#!/usr/bin/env bash
# The workload controllers as a stock kubectl sees them: rollout status, history, undo, pause, restart; wait; scale; sets with
# claims; daemons with a surge; jobs and cron jobs; logs -f, exec, attach and port-forward by the names of workloads.
source "$(dirname "$0")/lib/up.sh"
command -v python3 >/dev/null || skip "there is no python3"
up_start
deploy() {  # deploy IMAGE SLEEP
  kubectl apply -f - >/dev/null <<Y || fail "the deployment was refused"
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  revisionHistoryLimit: 5
  strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: c, image: "$1", command: [python3, -m, http.server, "8080"], workingDir: /usr/share, ports: [{containerPort: 8080}],
        readinessProbe: {tcpSocket: {port: 8080}, periodSeconds: 1}}]
Y
}
deploy x:1
want "successfully rolled out" timeout 60 kubectl rollout status deploy/web
want "condition met" timeout 30 kubectl wait --for=condition=available deploy/web
want "condition met" timeout 30 kubectl wait --for=condition=ready pod -l app=web
deploy x:2
want "successfully rolled out" timeout 90 kubectl rollout status deploy/web
want "x:2" kubectl get pods -l app=web -o 'jsonpath={.items[*].spec.containers[0].image}'
want "2         " kubectl rollout history deploy/web
kubectl rollout undo deploy/web >/dev/null
want "successfully rolled out" timeout 90 kubectl rollout status deploy/web
want "x:1" kubectl get deploy web -o 'jsonpath={.spec.template.spec.containers[0].image}'
want "3         " kubectl rollout history deploy/web
never "x:2" kubectl get pods -l app=web --field-selector status.phase=Running -o 'jsonpath={.items[?(@.metadata.deletionTimestamp=="")].spec.containers[0].image}'
kubectl rollout pause deploy/web >/dev/null; kubectl set image deploy/web c=x:3 >/dev/null
want "x:1" kubectl get pods -l app=web -o 'jsonpath={.items[*].spec.containers[0].image}'
kubectl rollout resume deploy/web >/dev/null
want "successfully rolled out" timeout 90 kubectl rollout status deploy/web
kubectl rollout restart deploy/web >/dev/null
want "successfully rolled out" timeout 90 kubectl rollout status deploy/web
kubectl scale deploy web --replicas 1 >/dev/null
want "1/1" kubectl get deploy web
tries=120 want "1" sh -c 'kubectl get pods -l app=web --no-headers | wc -l'

# Sessions by the workload's name.
want "out" kubectl exec deploy/web -- echo out
want "GET /" sh -c '(sleep 1; kubectl exec deploy/web -- python3 -c "import urllib.request as u; u.urlopen(\"http://127.0.0.1:8080/\")") & timeout 4 kubectl logs -f deploy/web; true'
kubectl port-forward deploy/web :8080 >"$dir/forward" 2>&1 & forward=$!
want "Forwarding from 127.0.0.1" cat "$dir/forward"
local=$(sed -n 's/.*127.0.0.1:\([0-9]*\) .*/\1/p' "$dir/forward" | head -1)
want "Directory listing" python3 -c "import urllib.request; print(urllib.request.urlopen('http://127.0.0.1:$local/').read().decode())"
kill "$forward"; wait "$forward" 2>/dev/null
kubectl expose deploy web --port 80 --target-port 8080 >/dev/null
address=$(kubectl get service web -o 'jsonpath={.spec.clusterIP}')
want "Directory listing" python3 -c "import urllib.request; print(urllib.request.urlopen('http://$address/', timeout=5).read().decode())"
want "8080" kubectl get endpointslices -l kubernetes.io/service-name=web

# A set with claims: one each, kept when it shrinks or dropped, as it says.
kubectl apply -f - >/dev/null <<'Y' || fail "the stateful set was refused"
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  replicas: 2
  persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete, whenScaled: Delete}
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {terminationGracePeriodSeconds: 1, containers: [{name: c, image: x, command: [sh, -c, "hostname >> /data/who; exec sleep 100000"], volumeMounts: [{name: data, mountPath: /data}]}]}
  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 10Mi}}}}]
Y
timeout 60 kubectl rollout status statefulset/db >/dev/null || fail "the stateful set did not roll out"
want "db-1" kubectl exec db-1 -- cat /data/who
kubectl delete pod db-1 >/dev/null
timeout 60 kubectl wait --for=jsonpath='{.status.readyReplicas}'=2 statefulset/db >/dev/null || fail "db-1 did not come back"
want "db-1
db-1" kubectl exec db-1 -- cat /data/who
kubectl scale statefulset db --replicas 1 >/dev/null
tries=120 want "NotFound" kubectl get pvc data-db-1
want "Bound" kubectl get pvc data-db-0
kubectl delete statefulset db >/dev/null
tries=120 want "NotFound" kubectl get pvc data-db-0

# A daemon whose successor stands beside it before it goes.
daemon() {
  kubectl apply -f - >/dev/null <<Y || fail "the daemon set was refused"
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: logs}
spec:
  updateStrategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}
  selector: {matchLabels: {app: logs}}
  template: {metadata: {labels: {app: logs}}, spec: {terminationGracePeriodSeconds: 1, containers: [{name: c, image: "$1", command: [sleep, "100000"]}]}}
Y
}
daemon x:1
timeout 60 kubectl rollout status ds/logs >/dev/null || fail "the daemon set did not roll out"
old=$(kubectl get pods -l app=logs -o 'jsonpath={.items[0].metadata.name}')
daemon x:2
timeout 60 kubectl rollout status ds/logs >/dev/null || fail "the daemon set did not roll on"
want "x:2" kubectl get pods -l app=logs -o 'jsonpath={.items[*].spec.containers[0].image}'
want "NotFound" kubectl get pod "$old"

# Jobs: parallel, failing, forgotten after a while; cron jobs.
kubectl apply -f - >/dev/null <<'Y' || fail "the jobs were refused"
apiVersion: batch/v1
kind: Job
metadata: {name: many}
spec: {completions: 5, parallelism: 3, template: {spec: {restartPolicy: Never, containers: [{name: c, image: x, command: [sh, -c, "sleep 0.3; echo done"]}]}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: failing}
spec: {backoffLimit: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: x, command: ["false"]}]}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: brief}
spec: {ttlSecondsAfterFinished: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: x, command: ["true"]}]}}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: tick}
spec: {schedule: "* * * * *", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: x, command: ["true"]}]}}}}}
Y
want "condition met" timeout 60 kubectl wait --for=condition=complete job/many
want "5/5" kubectl get job many
tries=120 want "BackoffLimitExceeded" kubectl get job failing -o 'jsonpath={.status.conditions[*].reason}'
tries=120 want "NotFound" kubectl get job brief
kubectl create job endless --image x -- sh -c 'trap exit TERM; while :; do sleep 0.1; done' >/dev/null
want "1" kubectl get job endless -o 'jsonpath={.status.ready}'
kubectl delete job endless >/dev/null
tries=120 want "No resources found" kubectl get pods -l job-name=endless
kubectl create job --from=cronjob/tick now >/dev/null
want "condition met" timeout 60 kubectl wait --for=condition=complete job/now
tries=300 want "tick-" kubectl get jobs
kubectl apply -f - >/dev/null <<'Y'
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
Y
want "0" kubectl get pdb web -o 'jsonpath={.status.disruptionsAllowed}'
want "1" kubectl get pdb web -o 'jsonpath={.status.currentHealthy}'
kubectl delete deploy,ds,job,cronjob,pdb --all >/dev/null
tries=120 want "No resources found" kubectl get pods
