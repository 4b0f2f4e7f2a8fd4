#!/usr/bin/env bash
# Admission by `mangrove manager` as API servers see it: pods become batch pods, mistakes are refused with a sentence,
# and a dead webhook does not stop the cluster. Against `mangrove apiserver`, and against a real kube-apiserver where it
# and etcd are installed.
source "$(dirname "$0")/lib/apiserver.sh"
source "$(dirname "$0")/lib/manager.sh"
source "$(dirname "$0")/../kubernetes/lib/control_plane.sh"
config_dir=$(cd "$(dirname "$0")/../../config" && pwd)
etcd_pid= kube_pid=
stop_kube() {
  [ -n "$kube_pid" ] && kill -9 "$kube_pid" 2>/dev/null
  [ -n "$etcd_pid" ] && kill -9 "$etcd_pid" 2>/dev/null
  return 0
}
trap 'code=$?; stop_managers; stop_kube; finish $code' EXIT

prepare() {
  kubectl create namespace koordinator-system >/dev/null
  kubectl create namespace spark >/dev/null
  kubectl label namespace spark colocation=true >/dev/null
  kubectl create namespace control >/dev/null
  kubectl label namespace control control-plane=true >/dev/null
  kubectl create namespace owned >/dev/null
  kubectl -n owned create configmap owners --from-literal=enable=true --from-literal=rules='[
    {"name": "owners", "requiredLabels": ["owner"], "namespaceWhitelist": ["default", "spark", "control", "team"]}]' >/dev/null
  kubectl apply -f - >/dev/null <<'Y'
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: koord-batch}
value: 5000
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: koord-prod}
value: 9000
---
apiVersion: config.koordinator.sh/v1alpha1
kind: ClusterColocationProfile
metadata: {name: spark}
spec:
  namespaceSelector: {matchLabels: {colocation: "true"}}
  selector: {matchLabels: {app: pi}}
  qosClass: BE
  priorityClassName: koord-batch
  koordinatorPriority: 7
  schedulerName: koord-scheduler
  labels: {from: profile}
Y
  kubectl apply -f "$config_dir/webhook/mutating.yaml" -f "$config_dir/webhook/validating.yaml" >/dev/null 2>&1
}

start_webhook() {  # start_webhook NAME
  metrics=127.0.0.1:$(free_port)
  METRICS_ADDR=$metrics WEBHOOK_HOST=127.0.0.1 start_manager "$1" --webhook-bind-address 127.0.0.1 \
    --pod-enhanced-validator-config-namespace owned --pod-enhanced-validator-config-name owners \
    --feature-gates ConfigMapValidatingWebhook=true,NodeMutatingWebhook=true,EnablePodEnhancedValidator=true
}

pod() {  # pod NAMESPACE NAME LABELS [REQUESTS]
  kubectl create -f - <<Y
apiVersion: v1
kind: Pod
metadata: {name: $2, namespace: $1, labels: {$3}}
spec:
  containers:
  - {name: c, image: busybox, resources: {requests: {${4:-cpu: 1500m, memory: 2Gi}}, limits: {${4:-cpu: "2", memory: 2Gi}}}}
Y
}
too_large() { pod team "large-$RANDOM" 'caster.io/resource-type: colocation' 'cpu: "3", memory: 1Gi'; }
requests='{.spec.containers[0].resources.requests}'

scenario() {
  prepare
  start_webhook one
  eventually want "https://127.0.0.1" kubectl get mutatingwebhookconfiguration -o \
    'jsonpath={.items[0].webhooks[0].clientConfig.url}'
  lacks "mreservation" kubectl get mutatingwebhookconfiguration -o yaml -o 'jsonpath={.items[0].webhooks[*].name}'

  # A profile makes batch pods, and only of those it means.
  eventually want "created" pod spark pi 'app: pi'
  want '"kubernetes.io/batch-cpu":"1500"' kubectl -n spark get pod pi -o "jsonpath=$requests"
  want '"kubernetes.io/batch-memory":"2Gi"' kubectl -n spark get pod pi -o "jsonpath=$requests"
  same "5000 koord-scheduler BE 7 profile" kubectl -n spark get pod pi -o \
    'jsonpath={.spec.priority} {.spec.schedulerName} {.metadata.labels.koordinator\.sh/qosClass} {.metadata.labels.koordinator\.sh/priority} {.metadata.labels.from}'
  want '"c":{"limits"' kubectl -n spark get pod pi -o \
    'jsonpath={.metadata.annotations.node\.koordinator\.sh/extended-resource-spec}'
  want "created" pod default plain 'app: pi'
  want '"cpu":"1500m"' kubectl get pod plain -o "jsonpath=$requests"
  want "created" pod default caster 'caster.io/resource-type: colocation'
  want '"kubernetes.io/batch-cpu":"1500"' kubectl get pod caster -o "jsonpath=$requests"

  # Mistakes are refused with a sentence.
  refused "must request whole cpus, requests 1500m" pod default bad 'koordinator.sh/qosClass: LSR, koordinator.sh/priority-class: koord-prod'
  refused "QoS class BE does not go with priority class none" pod default bad 'koordinator.sh/qosClass: BE'
  refused "metadata.labels[owner]: rule owners requires it" pod owned nobodys 'app: pi'
  want "created" pod owned mine 'owner: me'
  refused "may not be changed" kubectl -n spark label pod pi koordinator.sh/qosClass=LS --overwrite
  refused "more than spec.max allows" kubectl create -f - <<'Y'
apiVersion: scheduling.sigs.k8s.io/v1alpha1
kind: ElasticQuota
metadata: {name: q, namespace: default}
spec: {min: {cpu: 12}, max: {cpu: 10}}
Y
  refused "oom_priority '0': want -100 to -1 for reclaimed_cores" kubectl create -f - <<'Y'
apiVersion: v1
kind: Pod
metadata:
  name: bad
  annotations: {katalyst.kubewharf.io/qos_level: reclaimed_cores, katalyst.kubewharf.io/memory_enhancement: '{"oom_priority":"0"}'}
  labels: {koordinator.sh/qosClass: BE, koordinator.sh/priority-class: koord-batch}
spec: {containers: [{name: c, image: busybox}]}
Y
  refused "ConfigParamInvalid" kubectl create -f - <<'Y'
apiVersion: v1
kind: ConfigMap
metadata: {name: slo, namespace: default, labels: {koordinator.sh/configmap-type: slo-controller-config}}
data: {colocation-config: '{"degradeTimeMinutes":0}'}
Y
  kubectl create -f - >/dev/null <<'Y'
apiVersion: scheduling.sigs.k8s.io/v1alpha1
kind: ElasticQuota
metadata: {name: team, namespace: default}
spec: {min: {cpu: 2}, max: {cpu: 10}}
Y
  same "koordinator-root-quota" kubectl get elasticquota team -o \
    'jsonpath={.metadata.labels.quota\.scheduling\.koordinator\.sh/parent}'

  # What admission did is counted under the reference's names.
  for name in koord_manager_webhook_webhook_duration_milliseconds_bucket koord_manager_webhook_quota_shared_weight \
    'webhook_type="mutate",object_type="pod",operation="CREATE",plugin_name="pod",status="allowed"'; do
    eventually want "$name" curl -sf "http://$metrics/metrics"
  done

  # Words of other systems that disagree: the higher class, and an Event.
  kubectl create -f - >/dev/null <<'Y'
apiVersion: v1
kind: Pod
metadata: {name: torn, annotations: {katalyst.kubewharf.io/qos_level: reclaimed_cores, volcano.sh/preemptable: "false"}}
spec: {containers: [{name: c, image: busybox}]}
Y
  same LS kubectl get pod torn -o 'jsonpath={.metadata.labels.koordinator\.sh/qosClass}'
  eventually want "QoSDialectConflict" kubectl get events

  # A ResourceQuota of the namespace holds for reclaimed amounts too.
  kubectl create namespace team >/dev/null
  kubectl -n team create quota q --hard=requests.kubernetes.io/batch-cpu=2k >/dev/null
  eventually refused "exceeded quota: q" too_large
  kubectl -n team delete pod --all --grace-period=0 --force >/dev/null 2>&1
  want "created" pod team fits 'caster.io/resource-type: colocation' 'cpu: "1", memory: 1Gi'
  refused "used: requests.kubernetes.io/batch-cpu=1k" pod team second 'caster.io/resource-type: colocation' 'cpu: 1500m, memory: 1Gi'

  # Dead: what the cluster lives on goes on; pods of ordinary namespaces wait for us, as they must.
  kill -9 "${manager[one]}"
  wait "${manager[one]}" 2>/dev/null || true
  unset 'manager[one]'
  want "created" pod control dns 'app: dns'
  node n1 4 8Gi
  want "patched" kubectl patch node n1 --subresource=status --type=merge -p '{"status":{"allocatable":{"cpu":"3"}}}'
  want "patched" kubectl -n spark patch pod pi --subresource=status --type=merge -p '{"status":{"phase":"Running"}}'
  want "deleted" kubectl delete pod plain --grace-period=0 --force
  refused "failed calling webhook" pod spark late 'app: pi'
  # Whoever installed it finds out where people look. kube-apiserver tells in its metrics alone.
  if [ -z "$kube_pid" ]; then
    eventually want "failurePolicy Fail: such requests are refused" kubectl get events -n default \
      --field-selector reason=FailedCallingWebhook,involvedObject.kind=MutatingWebhookConfiguration -o 'jsonpath={.items[*].message}'
    want 'apiserver_admission_webhook_rejection_count{' kubectl get --raw /metrics
  fi

  # And back, at another port, with the certificates it had.
  local before
  before=$(kubectl get mutatingwebhookconfiguration -o 'jsonpath={.items[0].webhooks[0].clientConfig.caBundle}')
  cp -r "$dir/certs-one" "$dir/certs-two"
  start_webhook two
  eventually want "created" pod spark again 'app: pi'
  same "$before" kubectl get mutatingwebhookconfiguration -o 'jsonpath={.items[0].webhooks[0].clientConfig.caBundle}'
  stop_manager two
  kubectl delete mutatingwebhookconfiguration,validatingwebhookconfiguration --all >/dev/null
}

start_kube() {  # a real kube-apiserver on etcd, with our kinds; sets KUBECONFIG
  local crd
  ETCD_FLAGS=--unsafe-no-fsync start_control_plane "$dir/peer"
  export KUBECONFIG=$dir/peer/kubeconfig
  for crd in "$config_dir"/crd/*_*.yaml; do kubectl create -f "$crd" >/dev/null; done
  kubectl wait --for=condition=Established crd --all --timeout=60s >/dev/null
}

start
scenario
echo "mangrove apiserver: $checks checks"
if control_plane_missing; then
  all_good
  exit 0
fi
rm -rf "$dir"/certs-*
start_kube
scenario
echo "kube-apiserver: $checks checks with those before"
all_good
