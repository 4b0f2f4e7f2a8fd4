#!/usr/bin/env bash
# What somebody tries who may edit one namespace, and what somebody without a credential tries; then the same with the one thing
# that refuses it out of the way (tenant_attempts.txt, anonymous_attempts.txt).
here=$(dirname "$(readlink -f "$0")")
source "$here/../e2e/lib/up.sh"
up_start
admin=$KUBECONFIG
kubectl create namespace tenant >/dev/null; kubectl create namespace victim >/dev/null
kubectl label namespace tenant pod-security.kubernetes.io/enforce=baseline >/dev/null
kubectl create secret generic -n victim treasure --from-literal=a=b >/dev/null
kubectl create configmap -n victim prey --from-literal=a=b >/dev/null
kubectl create serviceaccount -n tenant tenant >/dev/null
who=system:serviceaccount:tenant:tenant
kubectl create rolebinding -n tenant tenant --clusterrole=edit --serviceaccount=tenant:tenant >/dev/null
kubectl create clusterrole tenant-roles --verb=get,list,patch,update --resource=clusterroles >/dev/null  # enough to try more
kubectl create clusterrolebinding tenant-roles --clusterrole=tenant-roles --serviceaccount=tenant:tenant >/dev/null
kubectl create role -n tenant debugger --verb=get,patch --resource=pods/ephemeralcontainers >/dev/null
kubectl create rolebinding -n tenant debugger --role=debugger --serviceaccount=tenant:tenant >/dev/null
kubectl create role -n tenant traffic --verb=create --resource=endpoints,endpointslices.discovery.k8s.io >/dev/null  # more than edit has
kubectl create rolebinding -n tenant traffic --role=traffic --serviceaccount=tenant:tenant >/dev/null
MACHINE=$(kubectl get node n1 -o 'jsonpath={.status.addresses[?(@.type=="InternalIP")].address}')
API_ADDRESS=$(kubectl get service kubernetes -o 'jsonpath={.spec.clusterIP}')
BRIDGE_ADDRESS=$(ip -4 -o addr show dev "$bridge" | awk '{sub("/.*", "", $4); print $4; exit}')
kubectl create -f - >/dev/null <<Y
---
{apiVersion: v1, kind: Pod, metadata: {name: target, namespace: tenant}, spec: {nodeName: n1, containers: [{name: c, image: x, command: [sleep, "1000"]}]}}
Y
token=$(kubectl create token -n tenant tenant)
server=$(kubectl config view --raw -o 'jsonpath={.clusters[0].cluster.server}')
kubectl config view --raw -o 'jsonpath={.clusters[0].cluster.certificate-authority-data}' | base64 -d >"$dir/ca.pem"
[ -s "$dir/ca.pem" ] || cp "$(kubectl config view --raw -o 'jsonpath={.clusters[0].cluster.certificate-authority}')" "$dir/ca.pem"
as_tenant="$dir/tenant.kubeconfig"
KUBECONFIG=$as_tenant kubectl config set-cluster c --server="$server" --certificate-authority="$dir/ca.pem" >/dev/null
KUBECONFIG=$as_tenant kubectl config set-credentials t --token="$token" >/dev/null
KUBECONFIG=$as_tenant kubectl config set-context x --cluster=c --user=t --namespace=tenant >/dev/null
KUBECONFIG=$as_tenant kubectl config use-context x >/dev/null

make() { kubectl create --dry-run=server -f - <<<$'---\n'"$1"; }  # make OBJECT: would it be accepted?
pod() {  # pod SPEC [ANNOTATION]
  make "{apiVersion: v1, kind: Pod, metadata: {namespace: tenant, name: a$RANDOM, annotations: {${2:-}}}, spec: $1}"
}
endpoints() {  # endpoints ADDRESS: a service of the tenant's that leads there
  make "{apiVersion: v1, kind: Endpoints, metadata: {namespace: tenant, name: e$RANDOM}, subsets: [{addresses: [{ip: '$1'}], ports: [{port: 22}]}]}"
}
slice() {
  make "{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {namespace: tenant, name: e$RANDOM}, addressType: IPv4, endpoints: [{addresses: ['$1']}], ports: [{port: 22}]}"
}
service() { make "{apiVersion: v1, kind: Service, metadata: {namespace: tenant, name: s$RANDOM}, spec: {$1}}"; }
node_port() { service "type: LoadBalancer, allocateLoadBalancerNodePorts: false, ports: [{port: 80, nodePort: $1}]"; }
address() { service "clusterIP: $1, ports: [{port: 80}]"; }
debugger() {  # a privileged container in a pod that runs
  kubectl get --raw /api/v1/namespaces/tenant/pods/target >/dev/null &&
    kubectl patch pod target -n tenant --subresource=ephemeralcontainers --dry-run=server \
      -p '{"spec":{"ephemeralContainers":[{"name":"d","image":"x","securityContext":{"privileged":true}}]}}'
}
attempts() {  # attempts FILE: NAME, OFF and COMMAND of each, in three lists
  names=(); declare -gA off=() code=()
  local line name
  while IFS= read -r line; do
    [[ "$line" =~ ^[[:space:]]*(#|$) ]] && continue
    name=$(xargs <<<"${line%% | *}"); line=${line#* | }
    names+=("$name"); off[$name]=$(xargs <<<"${line%% | *}"); code[$name]=${line#* | }
  done <"$here/$1"
}
try() { (eval "${code[$1]}") >"$dir/said" 2>&1; }
refused() { try "$1" && fail "$1 is not refused: $(head -c 300 "$dir/said")"; }
works() { try "$1" || fail "$1 is refused even $2: $(head -c 300 "$dir/said")"; }

attempts tenant_attempts.txt
total=${#names[@]}
for name in "${names[@]}"; do KUBECONFIG=$as_tenant refused "$name"; done
for name in "${names[@]}"; do [ "${off[$name]}" = other ] && OTHER=192.0.2.7 KUBECONFIG=$as_tenant works "$name" "with another address"; done
for name in "${names[@]}"; do [ "${off[$name]}" = admin ] && KUBECONFIG=$admin works "$name" "for the administrator"; done
KUBECONFIG=$admin kubectl label namespace tenant pod-security.kubernetes.io/enforce=privileged --overwrite >/dev/null
for name in "${names[@]}"; do [ "${off[$name]}" = level ] && KUBECONFIG=$as_tenant works "$name" "in a privileged namespace"; done

attempts anonymous_attempts.txt
curl="curl -sf --max-time 5 --cacert $dir/ca.pem"
for name in "${names[@]}"; do CURL="$curl $server" refused "$name"; done
root=$(kubectl create token -n kube-system default)
kubectl create clusterrolebinding attack-admin --clusterrole=cluster-admin --serviceaccount=kube-system:default >/dev/null
echo "Authorization: Bearer $root" >"$dir/header"
for name in "${names[@]}"; do CURL="$curl -H @$dir/header $server" works "$name" "with a credential"; done
kubectl delete pods -n tenant --all --now >/dev/null
echo "$((total + ${#names[@]})) attempts from a tenant and from nobody"
