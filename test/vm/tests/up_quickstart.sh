# The founding quick start on 16 CPUs: its four manifests unchanged and side by side, and its get_cpuset.sh with this machine's
# cgroup paths shows what it promises: LSE and LSR have two CPUs of their own each, LS the others, BE all but LSE's.
[ -x /bin/kubectl ] || { echo "there was no kubectl to pack"; exit 77; }
export KUBECONFIG=/state/kubeconfig HOME=/root
mkdir -p /state
mangrove up --data-dir /state --port 6443 --node-name vm >/tmp/up.out 2>/tmp/up.log &
up=$!
await() {  # await SECONDS TEXT COMMAND…
  left=$1 text=$2; shift 2
  while [ "$left" -gt 0 ]; do
    "$@" 2>&1 | grep -q -- "$text" && return 0
    kill -0 $up 2>/dev/null || break
    sleep 2; left=$((left - 2))
  done
  echo "FAILED: no '$text' from: $*"; "$@" 2>&1 | tail -20; tail -30 /tmp/up.log; exit 1
}
await 60 "is ready" cat /tmp/up.out
await 120 "batch-cpu" kubectl get node vm -o 'jsonpath={.status.allocatable}'
kubectl apply -f /quickstart || exit 1
await 240 "Running Running Running Running" kubectl get pods -o 'jsonpath={.items[*].status.phase}'

# One question for all pods, because a client is slow in an emulated machine: app, uid, class and container of each.
kubectl get pods -o 'jsonpath={range .items[*]}{.metadata.labels.app} {.metadata.uid} {.status.qosClass} {.status.containerStatuses[0].containerID}{"\n"}{end}' >/tmp/pods
get_cpuset() {  # the quick start's script, for the cgroupfs layout and cgroup v2
  set -- $(grep "^$1 " /tmp/pods)
  case $3 in Guaranteed) at= ;; Burstable) at=/burstable ;; BestEffort) at=-besteffort ;; esac
  cat "/sys/fs/cgroup/kubepods$at/pod$2/${4#containerd://}/cpuset.cpus.effective"
}
expand() { echo "$1" | tr ',' '\n' | while IFS=- read -r a b; do seq "$a" "${b:-$a}"; done; }
count() { expand "$1" | wc -l; }
common() { for one in $(expand "$1"); do expand "$2" | grep -x "$one"; done | wc -l; }
right() {
  lse=$(get_cpuset nginx-lse) lsr=$(get_cpuset nginx-lsr) ls=$(get_cpuset nginx-ls) be=$(get_cpuset nginx-be)
  echo "LSE $lse; LSR $lsr; LS $ls; BE $be"
  [ "$(count "$lse")" -eq 2 ] && [ "$(count "$lsr")" -eq 2 ] && [ "$(common "$lse" "$lsr")" -eq 0 ] &&
    [ "$(common "$ls" "$lse,$lsr")" -eq 0 ] && [ "$(count "$ls")" -eq 12 ] && [ "$(common "$be" "$lse")" -eq 0 ] && echo as promised
}
await 60 "as promised" right
right
kubectl delete deploy --all --wait=false
kill $up; wait $up
echo "up ended with $?"
