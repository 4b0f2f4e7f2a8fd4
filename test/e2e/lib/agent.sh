# Shared by the scripts that run `mangrove agent` against `mangrove apiserver`; sourced, not run. Brings lib/apiserver.sh along.
# Offers: start_agent, stop_agent, kill_agent ($agent, output in $dir/agent.out and $dir/err), make_node, and for agents that write
# cgroups use_cgroups with group and $tree, $cgroup, $controllers. What is named in $helpers ends with the script.
source "$(dirname "${BASH_SOURCE[0]}")/apiserver.sh"
[ "$(id -u)" -eq 0 ] || { echo "skipped: needs root for cgroups"; exit 77; }
cgroup=/sys/fs/cgroup
tree=
controllers="cpu cpuacct cpuset memory"
agent=
helpers=

clean() {  # leaves the exit code as it is
  local code=$? p c
  set +e
  declare -F leftovers >/dev/null && helpers="$helpers $(leftovers)"  # a script's own
  for p in $agent $helpers; do
    # Children of a helper would keep the test's output open.
    kill -9 $(pgrep -P "$p") "$p" 2>/dev/null
    wait "$p" 2>/dev/null
  done
  if [ -n "$tree" ]; then
    sleep 0.2
    for c in $controllers; do
      find $cgroup/$c/$tree -depth -type d -exec rmdir {} + 2>/dev/null
    done
  fi
  return "$code"
}
trap 'code=$?; clean; finish $code' EXIT

use_cgroups() {  # use_cgroups [CONTROLLER…]: a tree of our own in the v1 hierarchies, those and the usual ones
  [ -d $cgroup/cpu ] || { echo "skipped: no cgroup v1 cpu controller at $cgroup/cpu"; exit 77; }
  controllers="$controllers $*"
  mkdir "$cgroup/cpu/mangrove-e2e-$$" 2>/dev/null || { echo "skipped: cannot make cgroups below $cgroup/cpu"; exit 77; }
  tree=mangrove-e2e-$$
}

group() {  # group PATH: that cgroup in every controller
  local c part at=$cgroup/cpuset/$tree
  for c in $controllers; do
    [ ! -d $cgroup/$c ] || mkdir -p "$cgroup/$c/$tree/$1"
  done
  for part in . ${1//\// }; do
    at=$at/$part
    cat $cgroup/cpuset/cpuset.cpus >"$at/cpuset.cpus"
    cat $cgroup/cpuset/cpuset.mems >"$at/cpuset.mems"
  done
}

burn() {  # burn PATH: a busy loop in that cgroup
  sh -c "echo \$\$ >$cgroup/cpu/$tree/$1/cgroup.procs; while :; do :; done" &
  helpers="$helpers $!"
}

make_node() {  # make_node: the Node n1, as large as this machine
  kubectl create -f - >/dev/null <<Y
apiVersion: v1
kind: Node
metadata: {name: n1}
status:
  capacity: {cpu: "$(nproc)", memory: 4Gi, pods: "110"}
  allocatable: {cpu: "$(nproc)", memory: 4Gi, pods: "110"}
  addresses: [{type: InternalIP, address: 127.0.0.1}]
Y
}

make_job() {  # make_job RESOURCES [LABELS]: the best-effort pod "job" on n1 and its cgroups; sets $uid
  kubectl create -f - >/dev/null <<Y
apiVersion: v1
kind: Pod
metadata: {name: job, namespace: default, labels: {koordinator.sh/qosClass: BE${2:+, $2}}}
spec:
  nodeName: n1
  terminationGracePeriodSeconds: 0
  automountServiceAccountToken: false
  containers: [{name: main, image: none, resources: $1}]
Y
  uid=$(kubectl get pod job -o 'jsonpath={.metadata.uid}')
  group kubepods/burstable
  group "kubepods/besteffort/pod$uid"
}

threshold() {  # threshold MEMBERS: resourceUsedThresholdWithBE of the NodeSLO of n1
  kubectl apply -f - >/dev/null <<Y
apiVersion: slo.koordinator.sh/v1alpha1
kind: NodeSLO
metadata: {name: n1}
spec: {resourceUsedThresholdWithBE: {$1}}
Y
}

start_agent() {  # start_agent [FLAG…]: of n1, on port $ops or a free one
  "$mangrove" agent --kubeconfig "$KUBECONFIG" --node-name n1 --addr "127.0.0.1:${ops:-0}" \
    ${tree:+--cgroup-parent $tree --cgroup-driver cgroupfs} --history-dir "${history-}" \
    --prediction-checkpoint-filepath "$dir/models" --enforce-state "$dir/enforce.json" --heartbeat "${heartbeat-}" \
    "$@" >>"$dir/agent.out" 2>>"$dir/err" &
  agent=$!
}
stop_agent() { kill "$agent"; wait "$agent" 2>/dev/null || true; agent=; }
kill_agent() { kill -9 "$agent"; wait "$agent" 2>/dev/null || true; agent=; }
