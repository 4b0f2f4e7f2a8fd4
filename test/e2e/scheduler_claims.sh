#!/usr/bin/env bash
# Devices by Kubernetes' own claims, as a driver and a person with kubectl meet them: a class, slices of pools, claims by count and by
# selector, all of a node, one that two pods share, one of a template; what is written to their status, and the reason where one waits.
source "$(dirname "$0")/lib/apiserver.sh"
source "$(dirname "$0")/lib/scheduler.sh"
start
trap 'code=$?; stop_schedulers; finish $code' EXIT
make_node n1 4
make_node n2 4
start_scheduler one --leader-elect=false
driver=gpu.example.com

slice() {  # slice NODE MODEL MEMORY [SLICES OF THE POOL]: two cards
  kubectl apply -f - >/dev/null <<Y
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: $1-gpus}
spec:
  driver: $driver
  nodeName: $1
  pool: {name: $1, generation: 1, resourceSliceCount: ${4:-1}}
  devices:
  - {name: gpu-0, attributes: {model: {string: $2}, index: {int: 0}}, capacity: {memory: {value: $3}}}
  - {name: gpu-1, attributes: {model: {string: $2}, index: {int: 1}}, capacity: {memory: {value: $3}}}
Y
}
claim() {  # claim NAME [MORE OF THE REQUEST] [MORE OF THE METADATA]
  kubectl apply -f - >/dev/null <<Y
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: $1, namespace: default${3:+, $3}}
spec: {devices: {requests: [{name: card, exactly: {deviceClassName: gpu${2:+, $2}}}]}}
Y
}
pod_with() { make_pod "$1" 10m "resourceClaims: [{name: card, ${3:-resourceClaimName}: $2}]"; }
of() { kubectl get resourceclaim "$1" -o "jsonpath={$2}"; }
given() { of "$1" '.status.allocation.devices.results[*].device'; }
selector() { echo "selectors: [{cel: {expression: '$1'}}]"; }

kubectl apply -f - >/dev/null <<Y
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec:
  selectors: [{cel: {expression: 'device.driver == "$driver"'}}]
  config: [{opaque: {driver: $driver, parameters: {mode: fast}}}]
Y
slice n1 A100 80Gi
slice n2 H200 141Gi

# One card that a selector describes: where it is, who has it, and what the driver is told.
claim large "$(selector "device.attributes[\"$driver\"].model == \"H200\" && device.capacity[\"$driver\"].memory.compareTo(quantity(\"100Gi\")) >= 0")"
pod_with one large
eventually same n2 node_of one
same "card $driver n2 gpu-0" of large '.status.allocation.devices.results[0].request} {.status.allocation.devices.results[0].driver} {.status.allocation.devices.results[0].pool} {.status.allocation.devices.results[0].device'
same "pods one $(kubectl get pod one -o 'jsonpath={.metadata.uid}')" of large '.status.reservedFor[0].resource} {.status.reservedFor[0].name} {.status.reservedFor[0].uid'
same n2 of large '.status.allocation.nodeSelector.nodeSelectorTerms[0].matchFields[0].values[0]'
same "FromClass fast" of large '.status.allocation.devices.config[0].source} {.status.allocation.devices.config[0].opaque.parameters.mode'
want delete-protection of large .metadata.finalizers

# A second pod of the claim goes there too; a second such claim gets the other card, a third waits and is told.
pod_with mate large
eventually same n2 node_of mate
same "one mate" of large '.status.reservedFor[*].name'
claim another "$(selector "device.attributes[\"$driver\"].model in [\"H200\", \"B200\"]")"
pod_with two another
eventually same n2 node_of two
same gpu-1 given another
claim third "$(selector "device.attributes[\"$driver\"].model == \"H200\" || false")"
pod_with three third
eventually want "wants 1 devices; 0 of the" condition_of three
same "" given third

# All of a node: only where none is taken.
claim all "allocationMode: All"
pod_with four all
eventually same n1 node_of four
same "gpu-0 gpu-1" given all

# What a driver gives back is given to whoever waits: kube-controller-manager takes the pod out of the claim when it ends.
kubectl delete pod two --wait=false >/dev/null
kubectl patch resourceclaim another --subresource status --type merge -p '{"status": {"allocation": null, "reservedFor": null}}' >/dev/null
eventually same n2 node_of three
same gpu-1 given third

# Of a template: the pod waits until its claim is made for it, and takes no other's.
kubectl apply -f - >/dev/null <<Y
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: single, namespace: default}
spec: {spec: {devices: {requests: [{name: card, exactly: {deviceClassName: gpu}}]}}}
Y
kubectl delete pod four --wait=false >/dev/null
kubectl patch resourceclaim all --subresource status --type merge -p '{"status": {"allocation": null, "reservedFor": null}}' >/dev/null
pod_with five single resourceClaimTemplateName
eventually want 'waiting for a resourceclaim of template "single"' condition_of five
claim five-card-x "count: 1" "annotations: {resource.kubernetes.io/pod-claim-name: card}, ownerReferences: [{apiVersion: v1, kind: Pod, name: five, uid: $(kubectl get pod five -o 'jsonpath={.metadata.uid}'), controller: true}]"
eventually same n1 node_of five
same five of five-card-x '.status.reservedFor[*].name'

# Refusals name the claim and what would be right.
pod_with lost nowhere
eventually want 'resourceclaim "nowhere" not found' condition_of lost
claim odd "$(selector "device.attributes[\"$driver\"].model.startsWith(\"H\")")"
pod_with six odd
eventually want "claim odd: request card" condition_of six
want "joined by &&, || and !" condition_of six
kubectl apply -f - >/dev/null <<Y
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: either, namespace: default}
spec: {devices: {requests: [{name: card, firstAvailable: [{name: a, deviceClassName: gpu}, {name: b, deviceClassName: gpu}]}]}}
Y
pod_with seven either
eventually want "firstAvailable is not served by this scheduler" condition_of seven
claim every "allocationMode: All"
make_node n3 4
slice n3 A100 80Gi 2
pod_with eight every
eventually want "pool n3 of $driver is incomplete: 1 of 2 slices are there" condition_of eight
want "pool n3 of $driver is incomplete" "$mangrove" explain pod eight --kubeconfig "$KUBECONFIG"
all_good
