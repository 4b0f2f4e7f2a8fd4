#!/usr/bin/env bash
# Jobs of Spark, Flink and PyTorch, as our webhook rewrites them: stand-in pods made from their templates, as the operators would, are
# placed as gangs by our scheduler, whole or not at all; `explain group` says what is missing.
source "$(dirname "$0")/lib/apiserver.sh"
source "$(dirname "$0")/lib/manager.sh"
source "$(dirname "$0")/lib/scheduler.sh"
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
config_dir=$(cd "$(dirname "$0")/../../config" && pwd)
trap 'code=$?; stop_managers; stop_schedulers; finish $code' EXIT

kind() {  # kind GROUP VERSION KIND PLURAL: as its operator's installation would
  kubectl create -f - >/dev/null <<Y
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: $4.$1, annotations: {api-approved.kubernetes.io: unapproved}}
spec:
  group: $1
  scope: Namespaced
  names: {kind: $3, plural: $4}
  versions: [{name: $2, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
Y
}

room() {  # room NAME CORES: a node that sells so many batch cores
  kubectl create -f - >/dev/null <<Y
apiVersion: v1
kind: Node
metadata: {name: $1}
status:
  capacity: {cpu: "16", memory: 64Gi, pods: "110", kubernetes.io/batch-cpu: "${2}k", kubernetes.io/batch-memory: 64Gi, kubernetes.io/mid-cpu: "${2}k", kubernetes.io/mid-memory: 64Gi}
  allocatable: {cpu: "16", memory: 64Gi, pods: "110", kubernetes.io/batch-cpu: "${2}k", kubernetes.io/batch-memory: 64Gi, kubernetes.io/mid-cpu: "${2}k", kubernetes.io/mid-memory: 64Gi}
  conditions: [{type: Ready, status: "True"}]
Y
}

# operator KIND NAME ROLE COUNT: pods of one role, from the template that admission has rewritten.
operator() {
  kubectl get "$1" "$2" -o json | python3 -c '
import json, sys
kind, role, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
job = json.load(sys.stdin)
spec, name = job["spec"], job["metadata"]["name"]
if kind == "sparkapplications":
    part = spec[role]
    template = {"metadata": {"labels": part.get("labels", {}), "annotations": part.get("annotations", {})},
                "spec": {k: part[k] for k in ("schedulerName", "priorityClassName") if k in part}}
elif kind == "flinkdeployments":
    template = spec[role].get("podTemplate", {})
else:
    template = spec["pytorchReplicaSpecs"][role]["template"]
amounts = {"cpu": "1", "memory": "1Gi"}
for i in range(count):
    pod = json.loads(json.dumps(template))
    pod.update(apiVersion="v1", kind="Pod")
    pod.setdefault("metadata", {})["name"] = "%s-%s-%d" % (name, role.lower(), i)
    pod.setdefault("spec", {})["containers"] = [{"name": "main", "image": "i", "resources": {"requests": amounts, "limits": amounts}}]
    print(json.dumps(pod))
' "$1" "$3" "$4" | kubectl create -f - >/dev/null
}

bound() {  # bound PREFIX: how many pods of that name have a node
  kubectl get pods -o 'jsonpath={range .items[*]}{.metadata.name}{" "}{.spec.nodeName}{"\n"}{end}' | awk -v p="$1" 'index($1, p) == 1 && NF == 2' | wc -l
}
waits_whole() {  # waits_whole PREFIX MEMBER: the scheduler has looked at it, and nobody has a node
  eventually want "gang group" condition_of "$2"
  same 0 bound "$1"
}

start
kubectl create namespace koordinator-system >/dev/null
for class in koord-prod:9000 koord-mid:7000 koord-batch:5000; do
  kubectl create priorityclass "${class%:*}" --value="${class#*:}" >/dev/null
done
kind sparkoperator.k8s.io v1beta2 SparkApplication sparkapplications
kind flink.apache.org v1beta1 FlinkDeployment flinkdeployments
kind kubeflow.org v1 PyTorchJob pytorchjobs
kubectl apply -f "$config_dir/webhook/mutating.yaml" >/dev/null 2>&1
WEBHOOK_HOST=127.0.0.1 start_manager one --webhook-bind-address 127.0.0.1 --controllers='*,-noderesource,-nodemetric'  # nobody measures the nodes below, and what they sell is ours to say
start_scheduler one --leader-elect=false
room small 4

# PyTorch: one master and seven workers, at least four of them. Five start together, or nobody does.
job() { kubectl create -f - <<'Y'
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: ddp, labels: {colocation.mangrove.io/colocate: "true"}}
spec:
  elasticPolicy: {minReplicas: 4, maxReplicas: 7}
  pytorchReplicaSpecs:
    Master: {replicas: 1, template: {spec: {containers: [{name: pytorch, image: i}]}}}
    Worker: {replicas: 7, template: {spec: {containers: [{name: pytorch, image: i}]}}}
Y
}
eventually want "created" job
if [ -z "$(kubectl get pytorchjobs ddp -o 'jsonpath={.spec.runPolicy}')" ]; then  # created before the webhook was there
  eventually want "pytorchjob" kubectl get mutatingwebhookconfiguration -o 'jsonpath={.items[0].webhooks[*].clientConfig.url}{.items[0].webhooks[*].name}'
  kubectl delete pytorchjobs ddp >/dev/null
  rewritten() { job >/dev/null && [ -n "$(kubectl get pytorchjobs ddp -o 'jsonpath={.spec.runPolicy}')" ] || { kubectl delete pytorchjobs ddp >/dev/null 2>&1; false; }; }
  eventually rewritten
fi
same 5 kubectl get pytorchjobs ddp -o 'jsonpath={.spec.runPolicy.schedulingPolicy.minAvailable}'
operator pytorchjobs ddp Master 1
operator pytorchjobs ddp Worker 7
waits_whole ddp- ddp-worker-0
gang=$(kubectl get pod ddp-worker-0 -o 'jsonpath={.metadata.annotations.gang\.scheduling\.koordinator\.sh/name}')
lacks "no pod belongs" "$mangrove" explain group "$gang"
eventually want "needs 5 members, 4 fit" sh -c "'$mangrove' explain group '$gang' || true"
want "needs 5 members, 4 fit" sh -c "'$mangrove' explain pod ddp-worker-0 || true"
room more 4
eventually same 8 bound ddp-
want "\"onceResourceSatisfied\":true" curl -sf -H "Authorization: Bearer $(cut -d, -f1 "$dir/data/tokens.csv")" "$(ops_of one)/apis/v1/plugins/Coscheduling/gang/default/$gang"

# Flink: a job manager and three task managers; the roles are gangs of their own.
kubectl create -f - >/dev/null <<'Y'
apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
metadata: {name: stream, labels: {colocation.mangrove.io/colocate: "true"}}
spec: {job: {parallelism: 3}, flinkConfiguration: {taskmanager.numberOfTaskSlots: "1"}, jobManager: {replicas: 1}, taskManager: {}}
Y
operator flinkdeployments stream taskManager 3
waits_whole stream-taskmanager- stream-taskmanager-0
room flink 3
eventually same 3 bound stream-taskmanager-
operator flinkdeployments stream jobManager 1
eventually same 1 bound stream-jobmanager-

# Spark: executors are a gang that is not strict; it holds what it has until the others come, and one short of three is not bound.
kubectl create -f - >/dev/null <<'Y'
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata: {name: pi, labels: {colocation.mangrove.io/colocate: "true"}}
spec: {driver: {cores: 1}, executor: {instances: 3, cores: 1}}
Y
room spark 2
operator sparkapplications pi executor 3
holds() { [ "$(kubectl get pods -o 'jsonpath={range .items[*]}{.metadata.name}{" "}{.status.nominatedNodeName}{"\n"}{end}' | awk 'index($1, "pi-executor-") == 1 && NF == 2' | wc -l)" -eq 2 ]; }
eventually holds
same 0 bound pi-executor-
room rest 1
eventually same 3 bound pi-executor-


# By PodGroup: it is told how far its gang has come.
kubectl create -f - >/dev/null <<'Y'
apiVersion: scheduling.sigs.k8s.io/v1alpha1
kind: PodGroup
metadata: {name: pair}
spec: {minMember: 2}
Y
# Each member costs one write, its binding, which carries the marks of the wave.
writes() { kubectl get --raw /metrics | awk '/^apiserver_request_total/ && /resource="pods"/ && (/subresource="binding"/ || /subresource="status"/ || /verb="PATCH"/ || /verb="PUT"/) {sum += $NF} END {print sum + 0}'; }
before=$(writes)
make_pod pair-a 1 "" 'labels: {pod-group.scheduling.sigs.k8s.io: pair}'
make_pod pair-b 1 "" 'labels: {pod-group.scheduling.sigs.k8s.io: pair}'
eventually same 2 bound pair-
same 2 kubectl get pod pair-b -o 'jsonpath={.metadata.annotations.internal\.scheduling\.koordinator\.sh/bind-gang-member-count}'
same $((before + 2)) writes
eventually same Scheduled kubectl get podgroup pair -o 'jsonpath={.status.phase}'
all_good
