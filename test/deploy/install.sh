#!/usr/bin/env bash
# helm install, upgrade and uninstall of the packed chart on a real API (`mangrove apiserver`): everything is accepted, observe-only makes
# nothing that acts, what people changed stays, and afterwards only what was shared is left.
source "$(dirname "$0")/../e2e/lib/apiserver.sh"
here=$(cd "$(dirname "$0")" && pwd)
command -v helm >/dev/null || { echo "skipped: no helm (test/kubernetes/programs helm builds it)"; exit 77; }
start
chart=$("$here/../../packaging/chart" "$dir/chart")
helm() { command helm --namespace mangrove-system "$@" 2> >(grep -v 'symbolic link' >&2); }
may() {  # may ACCOUNT VERB RESOURCE[/SUBRESOURCE] [FLAG…]
  local account=$1 verb=$2 resource=$3
  shift 3
  [[ $resource != */* ]] || set -- "$@" --subresource "${resource#*/}"
  kubectl auth can-i "$verb" "${resource%%/*}" --as "system:serviceaccount:mangrove-system:mangrove-$account" "$@"
}
before=$(kubectl get clusterroles,clusterrolebindings,mutatingwebhookconfigurations,validatingwebhookconfigurations,priorityclasses -o name | sort)

want 'only observes' helm install mangrove "$chart" --create-namespace
# Not a koordlet in sight, so agents report, and the manager keeps their NodeMetrics.
want mangrove-manager kubectl -n mangrove-system get deployments -o name
want '--enable-node-metric-report=true' kubectl -n mangrove-system get daemonset mangrove-agent -o 'jsonpath={.spec.template.spec.containers[0].args}'
same '' kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations -o name
lacks slo-controller-config kubectl get configmaps -A -o name
refused 'not found' kubectl get namespace koordinator-system
for account in agent manager; do
  for right in 'patch nodes' 'patch nodes/status' 'patch pods' 'create pods/eviction' 'delete pods' 'get secrets'; do
    refused no may $account $right
  done
done
want yes may agent patch nodemetrics/status

# Beside a koordlet they do not.
kubectl create namespace koordinator-system >/dev/null
kubectl create -f - >/dev/null <<Y
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: koordlet, namespace: koordinator-system}
spec:
  selector: {matchLabels: {koord-app: koordlet}}
  template: {metadata: {labels: {koord-app: koordlet}}, spec: {containers: [{name: koordlet, image: koordlet}]}}
Y
want 'write no NodeMetric' helm upgrade mangrove "$chart"
want '--enable-node-metric-report=false' kubectl -n mangrove-system get daemonset mangrove-agent -o 'jsonpath={.spec.template.spec.containers[0].args}'
lacks mangrove-manager kubectl -n mangrove-system get deployments -o name
kubectl -n koordinator-system delete daemonset koordlet >/dev/null

# Acting: everything is there, under the Leases of Koordinator's.
want 'Acting: manager, scheduler, agent' helm upgrade mangrove "$chart" --set mode=enforce
same 'mangrove-mutating-webhook-configuration mangrove-validating-webhook-configuration' \
  kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations -o 'jsonpath={.items[*].metadata.name}'
want koord-batch kubectl get priorityclasses -o name
want yes may manager patch nodes/status
can_read() { kubectl auth can-i get "secrets/$1" -n mangrove-system --as system:serviceaccount:mangrove-system:mangrove-manager; }
want yes can_read mangrove-webhook-certs
refused no can_read other
refused no may agent get nodes/proxy
want '50' kubectl -n koordinator-system get configmap slo-controller-config -o 'jsonpath={.data.colocation-config}'

# What people change in the configuration is theirs.
kubectl -n koordinator-system patch configmap slo-controller-config --type merge -p '{"data":{"colocation-config":"{\"enable\":true,\"cpuReclaimThresholdPercent\":42}"}}' >/dev/null
want 'Acting' helm upgrade mangrove "$chart" --set mode=enforce
want 42 kubectl -n koordinator-system get configmap slo-controller-config -o 'jsonpath={.data.colocation-config}'

# One part alone, and back.
want 'Acting: scheduler.' helm upgrade mangrove "$chart" --set scheduler.mode=enforce
refused no may manager patch nodes/status
same '' kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations -o name

want 'uninstalled' helm uninstall mangrove --no-hooks
after=$(kubectl get clusterroles,clusterrolebindings,mutatingwebhookconfigurations,validatingwebhookconfigurations -o name | sort)
same '' diff <(grep -v priorityclass <<<"$before") <(echo "$after")
same '' kubectl -n mangrove-system get deployments,daemonsets,networkpolicies,poddisruptionbudgets,roles,rolebindings -o name
want 42 kubectl -n koordinator-system get configmap slo-controller-config -o 'jsonpath={.data.colocation-config}'
want koord-batch kubectl get priorityclasses -o name
want nodemetrics kubectl get crds -o name

# The plain manifests, for those without Helm.
want created kubectl apply -f "$here/../../deploy/manifests/observe.yaml"
want created kubectl apply -f "$here/../../deploy/manifests/enforce.yaml"
all_good
