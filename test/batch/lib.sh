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
