#!/usr/bin/env bash
# Reservations as a person with kubectl and `mangrove reserve` meets them: room is kept, the owner gets it, others do not; affinity,
# the end of one, and what `explain` says of it.
source "$(dirname "$0")/lib/apiserver.sh"
source "$(dirname "$0")/lib/scheduler.sh"
start
trap 'code=$?; stop_schedulers; finish $code' EXIT
make_node n1 4
start_scheduler one --leader-elect=false
of() { kubectl get reservation "$1" -o "jsonpath={$2}"; }

# Made by our command, placed, and seen by kubectl.
"$mangrove" reserve web --cpu 3 --for 1h --owner app=web --kubeconfig "$KUBECONFIG" >/dev/null
eventually same Available of web .status.phase
same n1 of web .status.nodeName
same 3 of web .status.allocatable.cpu
eventually want "Successfully assigned web to n1" kubectl get events --field-selector involvedObject.kind=Reservation,involvedObject.name=web
want "reservation web is on node n1" "$mangrove" explain reservation web --kubeconfig "$KUBECONFIG"
want "Nobody is in it." "$mangrove" explain reservation web --kubeconfig "$KUBECONFIG"

# A stranger does not see the room, the owner does; both are told.
make_pod stranger 2
eventually want "Insufficient cpu" condition_of stranger
make_pod owner 2 '' 'labels: {app: web}'
eventually same n1 node_of owner
want '"name":"web"' kubectl get pod owner -o 'jsonpath={.metadata.annotations.scheduling\.koordinator\.sh/reservation-allocated}'
eventually same Succeeded of web .status.phase
same owner of web '.status.currentOwners[0].name'
want "was taken by its owner" "$mangrove" explain reservation web --kubeconfig "$KUBECONFIG"
eventually same n1 node_of stranger  # what the owner left is free

# Must use one: waits until there is one, by label.
kubectl delete pod stranger owner >/dev/null
affinity='{scheduling.koordinator.sh/reservation-affinity: "{\"reservationSelector\":{\"tier\":\"gold\"}}"}'
make_pod picky 1 '' "labels: {app: web}, annotations: $affinity"
eventually want "no reservations match reservation affinity" condition_of picky
kubectl apply -f - >/dev/null <<'Y'
apiVersion: scheduling.koordinator.sh/v1alpha1
kind: Reservation
metadata: {name: gold, labels: {tier: gold}}
spec:
  owners: [{labelSelector: {matchLabels: {app: web}}}]
  allocateOnce: false
  ttl: 1h
  template: {spec: {schedulerName: koord-scheduler, containers: [{name: c, image: pause, resources: {requests: {cpu: "2"}}}]}}
Y
eventually same n1 node_of picky
eventually same 1 of gold .status.allocated.cpu
want "default/picky" "$mangrove" explain reservation gold --kubeconfig "$KUBECONFIG"

# One that is too large says why; one whose time is over ends, and its room is free.
"$mangrove" reserve huge --cpu 99 --owner app=web --kubeconfig "$KUBECONFIG" >/dev/null
eventually want "Insufficient cpu" of huge '.status.conditions[?(@.type=="Scheduled")].message'
eventually want "Insufficient cpu" kubectl get events --field-selector involvedObject.kind=Reservation,involvedObject.name=huge
refused "has no place" "$mangrove" explain reservation huge --kubeconfig "$KUBECONFIG"
make_pod late 3
eventually want "Insufficient cpu" condition_of late
kubectl patch reservation gold --type=merge -p '{"spec":{"expires":"2020-01-01T00:00:00Z"}}' >/dev/null
eventually same Failed of gold .status.phase
same Expired of gold '.status.conditions[?(@.type=="Ready")].reason'
eventually same n1 node_of late
same n1 node_of picky  # owners stay

# Both count as the scheduler does: the column of top, the node's explanation, the object.
kubectl delete pod --all >/dev/null
kubectl delete reservation --all >/dev/null
"$mangrove" reserve kept --cpu 2 --owner app=web --kubeconfig "$KUBECONFIG" >/dev/null
eventually same Available of kept .status.phase
want '"reserved"' "$mangrove" top --once -o json --kubeconfig "$KUBECONFIG"
want "r=reserved 2.00" "$mangrove" top --once --kubeconfig "$KUBECONFIG"
told() { "$mangrove" explain node n1 --kubeconfig "$KUBECONFIG" || true; }  # nothing measures it here, which explain takes for a fault
want "kept         cpu       2         0      2" told
kubectl delete reservation kept >/dev/null

# In time: its node is chosen at once, its room is for those who are gone by then, and free when it begins.
"$mangrove" reserve sale --cpu 3 --start 9s --for 1h --owner app=sale --kubeconfig "$KUBECONFIG" >/dev/null
eventually same Waiting of sale .status.phase
want "begins on node n1" "$mangrove" explain reservation sale --kubeconfig "$KUBECONFIG"
want "reservation sale begins" told
make_pod service 2
make_pod job 2 '' 'annotations: {colocation.mangrove.io/expected-duration: 1s}'
eventually same n1 node_of job
eventually want "Insufficient cpu" condition_of service
make_pod buyer 3 '' 'labels: {app: sale}, annotations: {scheduling.koordinator.sh/reservation-affinity: "{}"}'
eventually same n1 node_of buyer  # not before it has begun
want '"name":"sale"' kubectl get pod buyer -o 'jsonpath={.metadata.annotations.scheduling\.koordinator\.sh/reservation-allocated}'
refused "not found" kubectl get pod job
same "" node_of service
refused "--start 'yesterday'" "$mangrove" reserve x --cpu 1 --start yesterday --owner app=x --kubeconfig "$KUBECONFIG"

# Another scheduler takes what is kept: it is said, and nothing more comes there.
kubectl delete pod --all >/dev/null
kubectl delete reservation --all >/dev/null
"$mangrove" reserve kept --cpu 3 --owner app=web --kubeconfig "$KUBECONFIG" >/dev/null
eventually same Available of kept .status.phase
make_pod intruder 2 'nodeName: n1'
eventually want "NodeOvercommitted" kubectl get events --field-selector involvedObject.kind=Reservation,involvedObject.name=kept
want "pod default/intruder" kubectl get events --field-selector involvedObject.kind=Reservation,involvedObject.name=kept
make_pod harmless 0
eventually want "over-committed by another scheduler" condition_of harmless
all_good
