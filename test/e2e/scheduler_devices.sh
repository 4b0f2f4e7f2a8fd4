#!/usr/bin/env bash
# Cards as a person with kubectl meets them: shares and whole cards, NICs of the same switch, what is written to the pod, why one waits,
# card by card; how many more of a shape fit and which moves make room; a card that falls ill, one that is given twice, and a restart.
source "$(dirname "$0")/lib/apiserver.sh"
source "$(dirname "$0")/lib/scheduler.sh"
start
trap 'code=$?; stop_schedulers; finish $code' EXIT
gpu=koordinator.sh/gpu
ours() { "$mangrove" "$@" --kubeconfig "$KUBECONFIG"; }

device() {  # device NODE [MINOR THAT IS ILL]: eight cards in pairs on four switches and two NUMA nodes, a NIC on each switch
  python3 - "$@" <<'P' | kubectl apply -f - >/dev/null
import json, sys
node, ill = sys.argv[1], [int(one) for one in sys.argv[2:]]
place = lambda switch: {"socketID": -1, "nodeID": switch // 2, "pcieID": str(switch)}
cards = [{"type": "gpu", "id": "GPU-%s-%d" % (node, i), "minor": i, "health": i not in ill, "topology": place(i // 2), "resources": {
    "koordinator.sh/gpu-core": "100", "koordinator.sh/gpu-memory-ratio": "100", "koordinator.sh/gpu-memory": "80Gi"}} for i in range(8)]
cards += [{"type": "rdma", "id": "NIC-%d" % i, "minor": i, "health": True, "topology": place(i), "resources": {"koordinator.sh/rdma": "100"}}
          for i in range(4)]
print(json.dumps({"apiVersion": "scheduling.koordinator.sh/v1alpha1", "kind": "Device", "metadata": {"name": node}, "spec": {"devices": cards}}))
P
}
box() {  # box NAME
  make_node "$1" 64 'node.koordinator.sh/gpu-model: H800'
  local sold="{\"$gpu-core\": \"800\", \"$gpu-memory-ratio\": \"800\", \"$gpu-memory\": \"640Gi\", \"koordinator.sh/rdma\": \"400\", \"nvidia.com/gpu\": \"8\"}"
  kubectl patch node "$1" --subresource status --type merge -p "{\"status\": {\"capacity\": $sold, \"allocatable\": $sold}}" >/dev/null
  device "$1"
}
card_pod() {  # card_pod NAME REQUESTS [METADATA] [SPEC]
  kubectl apply -f - >/dev/null <<Y
apiVersion: v1
kind: Pod
metadata: {name: $1${3:+, $3}}
spec: {${4:+$4, }schedulerName: koord-scheduler, terminationGracePeriodSeconds: 0, containers: [{name: c, image: i, resources: {requests: {cpu: 10m, $2}, limits: {$2}}}]}
Y
}
cards() { echo "$gpu-core: \"${1}00\", $gpu-memory-ratio: \"${1}00\""; }
share() { echo "$gpu-core: \"$1\", $gpu-memory-ratio: \"$1\""; }
hint() { echo "annotations: {scheduling.koordinator.sh/device-allocate-hint: '{\"gpu\": {\"requiredTopologyScope\": \"$1\"}}'}"; }
given() { kubectl get pod "$1" -o 'jsonpath={.metadata.annotations.scheduling\.koordinator\.sh/device-allocated}'; }
minors() { given "$1" | python3 -c 'import json, sys; print("; ".join(kind + "".join(" %d" % one["minor"] for one in cards) for kind, cards in sorted(json.load(sys.stdin).items())))'; }
events_of() { kubectl get events --field-selector "involvedObject.kind=Pod,involvedObject.name=$1" -o 'jsonpath={.items[*].message}'; }
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }

box a
start_scheduler one --leader-elect=false

# A half with its bytes and its id, a pair with the NIC of its switch.
card_pod half "$(share 50)"
eventually same "gpu 0" minors half
want '"koordinator.sh/gpu-memory":"40Gi"' given half
want '"id":"GPU-a-0"' given half
card_pod pair "$(cards 2), koordinator.sh/rdma: 1" "annotations: {scheduling.koordinator.sh/device-joint-allocate: '{\"deviceTypes\": [\"gpu\", \"rdma\"], \"requiredScope\": \"SamePCIe\"}'}"
eventually same "gpu 2 3; rdma 1" minors pair
want "default/pair" ours top --by device --once

# Why the next one waits, card by card; what is asked for wrongly is said before any node is looked at. Four of one NUMA node are there.
card_pod late "$(cards 3)" "$(hint PCIe)"
eventually want "Insufficient Topology Scoped GPU Devices" condition_of late
want "needs 3 with gpu-core=100, gpu-memory-ratio=100 each on one switch; 5 of 8 have room, at most 2 of them on one switch" ours explain pod late
kubectl delete pod late --wait=false >/dev/null
card_pod four "$(cards 4)" "$(hint NUMANode)"
eventually same "gpu 4 5 6 7" minors four
card_pod odd "$gpu-core: \"150\", $gpu-memory-ratio: \"150\""
eventually want "150" condition_of odd
kubectl delete pod odd --wait=false >/dev/null

# How many more of a shape fit, and which moves make room.
box b
want "1 pods with 8 GPUs of 100 % each (nvlink) fit now" ours explain shape --gpus 8 --topology nvlink
kubectl delete pod pair four --wait=false >/dev/null
pinned='nodeSelector: {kubernetes.io/hostname: b}'
card_pod other "$(share 50)" "" "$pinned"
eventually same "gpu 0" minors other
eventually want "0 pods with 8 GPUs of 100 % each (nvlink) fit now" ours explain shape --gpus 8 --topology nvlink
eventually want "these moves would make room for one more on a" ours explain shape --gpus 8 --topology nvlink
want "default/half" ours explain shape --gpus 8 --topology nvlink
want "a -> b" ours explain shape --gpus 8 --topology nvlink
refused "--topology is 'ring'; want node, numa, pcie or nvlink" ours explain shape --gpus 8 --topology ring

# A card that falls ill: its pod is named, and nobody gets it any more.
device a 0
eventually want "gpu 0 of node a is reported unhealthy" events_of half
want "unhealthy" ours top --by device --once
card_pod seven "$(cards 7)" "" 'nodeSelector: {kubernetes.io/hostname: a}'
eventually same "gpu 1 2 3 4 5 6 7" minors seven
kubectl delete pod half --wait=false >/dev/null
card_pod again "$(share 50)" "" 'nodeSelector: {kubernetes.io/hostname: a}'
eventually want "Insufficient" condition_of again
want "1 unhealthy" ours explain pod again
device a
eventually same "gpu 0" minors again

# Another scheduler gives away what we gave away: both pods are told, the page and the metric say so, and nothing more comes there.
foreign="annotations: {scheduling.koordinator.sh/device-allocated: '{\"gpu\": [{\"minor\": 0, \"resources\": {\"$gpu-core\": \"80\", \"$gpu-memory-ratio\": \"80\"}}]}'}"
card_pod intruder "$(share 80)" "$foreign" 'nodeName: a'
for holder in again intruder; do
  eventually want "gpu 0 of node a is given to" events_of "$holder"
  want ": more than there is of $gpu-core" events_of "$holder"
  for other in again intruder; do want "default/$other" events_of "$holder"; done
done
token=$(cut -d, -f1 "$dir/data/tokens.csv" 2>/dev/null || sed -n 's/.*token: "\([^"]*\)".*/\1/p' "$KUBECONFIG")
page() { curl -fsS -H "Authorization: Bearer $token" "$(ops_of one)/$1"; }
want '"givenTwice":[{"type":"gpu","minor":0' page apis/v1/plugins/DeviceShare/nodeDeviceSummaries/a
eventually want "mangrove_scheduler_devices_given_twice 1" page metrics

# Killed and started anew: the books are as they were before anything is decided.
{ kill -9 "${scheduler[one]}" && wait "${scheduler[one]}"; } 2>/dev/null || true
card_pod eight "$(cards 8)" "" "$pinned"
card_pod last "$(cards 7)" "" "$pinned"
start_scheduler two --leader-elect=false
eventually same "gpu 1 2 3 4 5 6 7" minors last
eventually want "Insufficient" condition_of eight
all_good
