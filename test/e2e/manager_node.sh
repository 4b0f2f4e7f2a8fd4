#!/usr/bin/env bash
# The manager against `mangrove apiserver`: a report becomes an amount for sale, a broken key of the configuration is
# reported and the others hold, an opened and closed time window, devices, other names for the same ledger, and how the number came to be.
source "$(dirname "$0")/lib/apiserver.sh"
source "$(dirname "$0")/lib/manager.sh"
source "$(dirname "$0")/../kubernetes/lib/control_plane.sh"  # free_port

start
prepare_cluster
node n1 100 120G
metrics=127.0.0.1:$(free_port)
METRICS_ADDR=$metrics start_manager one
eventually want "n1" kubectl get nodemetric n1
eventually want "n1" kubectl get nodeslo n1
report n1 7 33
eventually same 25k kubectl get node n1 -o 'jsonpath={.status.allocatable.kubernetes\.io/batch-cpu}'
same 25k kubectl get node n1 -o 'jsonpath={.status.capacity.kubernetes\.io/batch-cpu}'
same 33G kubectl get node n1 -o 'jsonpath={.status.allocatable.kubernetes\.io/batch-memory}'
want "25k" kubectl get node n1 -o 'jsonpath={.metadata.annotations.node\.koordinator\.sh/originExtendedAllocatable}'

# The reference's names, where its dashboards look for them.
for name in koordinator_manager_is_leader slo_controller_node_resource_reconcile_count slo_controller_nodemetric_reconcile_count \
  slo_controller_nodemetric_spec_parse_count slo_controller_nodeslo_reconcile_count slo_controller_nodeslo_spec_parse_count \
  slo_controller_node_resource_run_plugin_status slo_controller_node_extended_resource_allocatable_internal; do
  want "$name" curl -sf "http://$metrics/metrics"
done
want 'koordinator_manager_is_leader 1' curl -sf "http://$metrics/all-metrics"

# Every term, with its age.
want "= for sale" "$mangrove" explain node n1
want "25.000" "$mangrove" explain node n1
want "old" "$mangrove" explain node n1
want '"what": "= for sale"' "$mangrove" explain node n1 -o json
config '{"enable":false}'
kubectl annotate node n1 node.koordinator.sh/colocation-strategy='{"enable":true,"cpuReclaimThresholdPercent":65}' >/dev/null
want "not enabled for the cluster" "$mangrove" explain node n1
lacks "not enabled for the cluster" "$mangrove" explain node n1 --most-specific-enable
kubectl annotate node n1 node.koordinator.sh/colocation-strategy- >/dev/null
config '{"enable":true,"cpuReclaimThresholdPercent":65,"memoryReclaimThresholdPercent":65}'
eventually same 25k kubectl get node n1 -o 'jsonpath={.status.allocatable.kubernetes\.io/batch-cpu}'
refused "there is no node 'n9'" "$mangrove" explain node n9

# A wrong key is reported where users look, and its last good value stays; the others take effect.
config '{"enable":true,"cpuReclaimThresholdPercent":65,"memoryReclaimThresholdPercent":65}' \
  '{"clusterStrategy":{"minFreeKbytesFactor":100} "nodeStrategies":[]}' '{"clusterStrategy":{"policy":"auto"}}'
eventually want "SLOCfgUnmarshalFailed" kubectl -n koordinator-system get events
eventually want "system-config line 1, column 48" kubectl -n koordinator-system get events
eventually same auto kubectl get nodeslo n1 -o 'jsonpath={.spec.cpuBurstStrategy.policy}'
same 25k kubectl get node n1 -o 'jsonpath={.status.allocatable.kubernetes\.io/batch-cpu}'

# Devices.
kubectl apply -f - >/dev/null <<'Y'
apiVersion: scheduling.koordinator.sh/v1alpha1
kind: Device
metadata: {name: n1, labels: {node.koordinator.sh/gpu-vendor: nvidia, node.koordinator.sh/gpu-model: A100}}
spec:
  devices:
  - {type: gpu, minor: 0, health: true, resources: {koordinator.sh/gpu-core: "100", koordinator.sh/gpu-memory: 80Gi, koordinator.sh/gpu-memory-ratio: "100"}}
  - {type: rdma, minor: 0, health: true}
Y
eventually same 100 kubectl get node n1 -o 'jsonpath={.status.allocatable.koordinator\.sh/gpu}'
eventually same 100 kubectl get node n1 -o 'jsonpath={.status.allocatable.koordinator\.sh/rdma}'
eventually same A100 kubectl get node n1 -o 'jsonpath={.metadata.labels.node\.koordinator\.sh/gpu-model}'

# A time policy that closes now.
kubectl label node n1 pool=online >/dev/null
kubectl apply -f - >/dev/null <<'Y'
apiVersion: colocation.mangrove.io/v1alpha1
kind: ColocationTimePolicy
metadata: {name: closed}
spec:
  nodeSelector: {matchLabels: {pool: online}}
  windows:
  - {name: always, start: "00:00", end: "24:00", mode: "Off"}
Y
eventually same 0 kubectl get node n1 -o 'jsonpath={.status.allocatable.kubernetes\.io/batch-cpu}'
kubectl delete colocationtimepolicy closed >/dev/null
eventually same 25k kubectl get node n1 -o 'jsonpath={.status.allocatable.kubernetes\.io/batch-cpu}'

# Other names for the same ledger: a placement under one lowers the others, however small it is.
config '{"enable":true,"cpuReclaimThresholdPercent":65,"memoryReclaimThresholdPercent":65,"aliasViews":["crane","katalyst"]}'
eventually same 25 kubectl get node n1 -o 'jsonpath={.status.allocatable.gocrane\.io/cpu}'
kubectl create -f - >/dev/null <<'Y'
apiVersion: v1
kind: Pod
metadata: {name: small, labels: {koordinator.sh/qosClass: BE}}
spec: {nodeName: n1, containers: [{name: c, image: x, resources: {requests: {kubernetes.io/batch-cpu: "100"}, limits: {kubernetes.io/batch-cpu: "100"}}}]}
Y
eventually same 24900 kubectl get node n1 -o 'jsonpath={.status.allocatable.resource\.katalyst\.kubewharf\.io/reclaimed_millicpu}'
same 24 kubectl get node n1 -o 'jsonpath={.status.allocatable.gocrane\.io/cpu}'
kubectl delete pod small --grace-period=0 --force >/dev/null 2>&1

# A root quota from a profile.
kubectl apply -f - >/dev/null <<'Y'
apiVersion: quota.koordinator.sh/v1alpha1
kind: ElasticQuotaProfile
metadata: {name: p, namespace: koordinator-system}
spec: {quotaName: root-a, resourceRatio: "0.9", nodeSelector: {matchLabels: {pool: online}}}
Y
eventually same 90 kubectl -n koordinator-system get elasticquota root-a -o 'jsonpath={.spec.min.cpu}'

# The node leaves, and what stood for it.
kubectl delete node n1 >/dev/null
eventually refused "not found" kubectl get nodemetric n1
eventually refused "not found" kubectl get nodeslo n1
stop_manager one
all_good
