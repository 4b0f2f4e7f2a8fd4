# Sourced by the tests of batch work after test/e2e/lib/up.sh.

# Batch CPU for sale although other programs keep this machine busy: what its CPUs are worth is said on the node, thrice, and not
# measured. Order and capacity are what is tested here, not how much is idle.
sell() {
  want "kubernetes.io/batch-cpu" kubectl get node n1 -o 'jsonpath={.status.allocatable}'
  kubectl label --overwrite node n1 node.koordinator.sh/cpu-reclaim-ratio=3 >/dev/null
  for _ in $(seq 400); do
    [ "$(kubectl get node n1 -o 'jsonpath={.status.allocatable.kubernetes\.io/batch-cpu}')" -ge 1000 ] 2>/dev/null && return 0
    sleep 0.25
  done
  fail "no batch CPU is for sale"
}

# marks RULES: nothing but these watermarks makes the agent evict; by default a busy machine's load would.
marks() { kubectl annotate --overwrite node n1 "node.mangrove.io/watermarks=$1" >/dev/null; }
quiet='[{"metric":"memory","watermark":99,"durationSeconds":60,"target":98}]'
# One eviction, asked to save before it, because the machine's CPUs are over a mark that they always are.
evict_one() {
  marks '[{"metric":"cpu","watermark":1,"durationSeconds":1,"target":0.5}]'
  tries=480 want "evictPodSuccess" kubectl get events -o 'jsonpath={.items[*].reason}'
  marks "$quiet"
  kubectl get events -o 'jsonpath={range .items[?(@.reason=="CheckpointRequested")]}{.involvedObject.name}: {.message}{"\n"}{end}{range .items[?(@.reason=="evictPodSuccess")]}{.involvedObject.name}: {.message}{"\n"}{end}'
  want "CheckpointRequested" kubectl get events -o 'jsonpath={.items[*].reason}'
}
