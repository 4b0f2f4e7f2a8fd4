#!/usr/bin/env bash
# Runs schedulers one after the other on the same server with the same pods, and prints pods/s, processor time per pod and peak
# memory side by side: first on kube-apiserver + etcd, then on our own server. Each scheduler is a process of its own; all pods wait
# before it starts; "until quiet" counts what a scheduler does after the last binding, too (events). Then it gets more pods by turns with the server's raw
# rate of bindings (the generator of `mangrove bench api`): "of raw" is the median of such pairs. --turns 0 leaves that out.
#
#   MANGROVE=build/release/bin/mangrove bench/scheduler_peers.sh [--nodes 5000] [--pods 5000] [--case SchedulingBasic] [--turns 9]
#
# Gangs beside koord-scheduler's own plugin, 50 groups of 20:
#
#   KOORD_SCHEDULER=… SERVERS=kubernetes bench/scheduler_peers.sh --case Gangs50x20 --nodes 100 --pods 1000 --turns 0
#
# --patience 5m judges a scheduler that is not done by then by what it did until then.
#
# KUBE_SCHEDULER (none: leave it out, as it knows neither gangs nor reservations), KUBE_APISERVER and ETCD name the peers (default: in PATH or ~/.cache/mangrove/bin). KOORD_SCHEDULER names a
# koord-scheduler to measure as well, with the plugins of its shipped profile, ElasticQuota among them (KOORD_CONFIG: another
# configuration). --case Quota makes 1 000 quotas in three levels and 35 000 pods that they block beside those that are measured
# (--leaves, --nodes change that): QUOTA=1 KOORD_SCHEDULER=… bench/scheduler_peers.sh --case Quota --turns 0. SERVERS chooses
# "kubernetes", "embedded" or both; RUNS repeats each scheduler. RESULTS names a directory that keeps the JSON. Exit code 77: a peer is missing.
set -euo pipefail
source "$(dirname "$0")/../test/kubernetes/lib/control_plane.sh"
mangrove=$(realpath "${MANGROVE:?path of the binary}")
kube_scheduler=${KUBE_SCHEDULER:-$(command -v kube-scheduler || true)}
koord_scheduler=${KOORD_SCHEDULER:-}
servers=${SERVERS:-kubernetes embedded}
dir=$(mktemp -d "${TMPDIR:-/tmp}/scheduler-peers-XXXXXX")
results=${RESULTS:-$dir}
mkdir -p "$results"
pids=()
stop_servers() {
  for pid in "${pids[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  pids=()
}
trap 'stop_servers; rm -rf "$dir"' EXIT

start_kubernetes() {
  start_control_plane "$dir/peers"
  pids+=("$etcd_pid" "$kube_pid")
  cp "$dir/peers/kubeconfig" "$dir/kubernetes.config"
}

start_embedded() {
  local i
  "$mangrove" apiserver --data-dir "$dir/embedded" --port 0 >"$dir/embedded.log" 2>&1 &
  pids+=($!)
  for ((i = 0; i < 100; i++)); do
    [ -s "$dir/embedded/kubeconfig" ] && grep -q . "$dir/embedded.log" && break
    sleep 0.1
  done
  cp "$dir/embedded/kubeconfig" "$dir/embedded.config"
}

scheduler_config() {  # scheduler_config SERVER: the stock scheduler without limits on its requests
  local type=application/vnd.kubernetes.protobuf
  [ "$1" = kubernetes ] || type=application/json
  cat >"$dir/$1.scheduler.yaml" <<Y
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: "$dir/$1.config", qps: 10000, burst: 10000, contentType: "$type"}
leaderElection: {leaderElect: false}
Y
}

install_kinds() {  # install_kinds SERVER: ours has them, and the namespace of the quotas that every cluster has
  kubectl --kubeconfig "$dir/$1.config" apply --server-side -k "$(dirname "$0")/../config/crd" >/dev/null
  kubectl --kubeconfig "$dir/$1.config" create namespace koordinator-system >/dev/null 2>&1 || true
}

koord_config() {  # koord_config SERVER: the plugins its makers ship, without limits on its requests; installs the kinds it watches
  local every="Reservation, NodeNUMAResource, DeviceShare, Coscheduling, ElasticQuota"
  names() { printf '{name: %s}, ' ${1//,/}; }
  install_kinds "$1"
  cat >"$dir/$1.koord.yaml" <<Y
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: "$dir/$1.config", qps: 10000, burst: 10000, contentType: "application/json"}
leaderElection: {leaderElect: false}
profiles:
- schedulerName: koord-scheduler
  pluginConfig:
  - name: LoadAwareScheduling
    args: {apiVersion: kubescheduler.config.k8s.io/v1, kind: LoadAwareSchedulingArgs, filterExpiredNodeMetrics: false, nodeMetricExpirationSeconds: 300,
           resourceWeights: {cpu: 1, memory: 1}, usageThresholds: {cpu: 65, memory: 95}, estimatedScalingFactors: {cpu: 85, memory: 70}}
  - name: ElasticQuota
    args: {apiVersion: kubescheduler.config.k8s.io/v1, kind: ElasticQuotaArgs, quotaGroupNamespace: koordinator-system}
  plugins:
    preEnqueue: {enabled: [$(names Coscheduling)]}
    queueSort: {disabled: [{name: "*"}], enabled: [$(names Coscheduling)]}
    preFilter: {enabled: [$(names "$every")]}
    filter: {enabled: [$(names "LoadAwareScheduling, NodeNUMAResource, DeviceShare, Reservation")]}
    postFilter: {disabled: [{name: "*"}], enabled: [$(names "Reservation, Coscheduling, ElasticQuota, DefaultPreemption")]}
    preScore: {enabled: [$(names Reservation)]}
    score: {enabled: [{name: LoadAwareScheduling, weight: 1}, {name: NodeNUMAResource, weight: 1}, {name: DeviceShare, weight: 1}, {name: Reservation, weight: 5000}]}
    reserve: {enabled: [$(names "LoadAwareScheduling, Reservation, NodeNUMAResource, DeviceShare, Coscheduling, ElasticQuota")]}
    permit: {enabled: [$(names Coscheduling)]}
    preBind: {enabled: [$(names "NodeNUMAResource, DeviceShare, Reservation, DefaultPreBind")]}
    bind: {disabled: [{name: "*"}], enabled: [$(names "Reservation, DefaultBinder")]}
    postBind: {enabled: [$(names Coscheduling)]}
Y
}

measure() {  # measure SERVER NAME SCHEDULER-NAME COMMAND [FLAGS]
  local server=$1 name=$2 pods=$3 command=$4 run
  shift 4
  for ((run = 1; run <= ${RUNS:-1}; run++)); do
    if ! "$mangrove" bench scheduler --mode peer --kubeconfig "$dir/$server.config" --untaint --metrics=false --name "$name" \
      --scheduler-name "$pods" --run "$command" --log "$dir/$name.log" -o json "$@" >"$results/$server.$name.$run.json"; then
      tail -5 "$dir/$name.log"
      rm -f "$results/$server.$name.$run.json"
    fi
  done
}

compare() {
  python3 - "$results" <<'P'
import glob, json, os, sys
rows = {}
for path in sorted(glob.glob(sys.argv[1] + "/*.*.*.json")):
    server, name, _, _ = os.path.basename(path).split(".")
    rows.setdefault((server, name), []).append(json.load(open(path))[0])
print(f"{'server':<11} {'scheduler':<16} {'first pod s':>11} {'pods/s':>8} {'raw bindings/s':>14} {'of raw':>13} {'CPU us/pod':>10} {'until quiet':>11} {'with start':>10} {'peak RSS MB':>11}")
mid = lambda runs, key: sorted(r[key] for r in runs)[len(runs) // 2]
def share(runs):  # the median of the runs' shares, and from where to where they go
    shares = sorted(r["shareOfRaw"]["median"] for r in runs if r["shareOfRaw"])
    if not shares:
        return "-"
    return f"{shares[len(shares) // 2]:.0%}" + (f" [{shares[0]:.0%}-{shares[-1]:.0%}]".replace("%", "") if len(shares) > 1 else "")
table = {}
for (server, name), runs in sorted(rows.items(), reverse=True):
    r = {key: mid(runs, key) for key in runs[0] if isinstance(runs[0][key], (int, float))}
    table[server, name] = r
    if r["bound"] < r["pods"]:
        print(f"{name} was given up with {r['bound']} of {r['pods']} pods bound; its figures are of those")
    print(f"{server:<11} {name:<16} {r['firstSeconds']:>11.2f} {r['podsPerSecond']:>8.0f} {r['rawBindingsPerSecond']:>14.0f}"
          f" {share(runs):>13} {r['cpuMicrosPerPod']:>10.0f} {r['cpuMicrosPerPodSettled']:>11.0f} {r['cpuMicrosPerPodWithStart']:>10.0f} {r['peakRssMegabytes']:>11}")
at = lambda server, name: table.get((server, name))
ours, here = at("kubernetes", "mangrove"), at("embedded", "mangrove")
for name in ("kube-scheduler", "koord-scheduler"):
    other = at("kubernetes", name)
    if ours and other:
        print(f"on kube-apiserver, ours / {name}: CPU per pod 1/{other['cpuMicrosPerPod'] / ours['cpuMicrosPerPod']:.1f} (until quiet, with the events that were kept: 1/{other['cpuMicrosPerPodSettled'] / ours['cpuMicrosPerPodSettled']:.1f}), pods/s x{ours['podsPerSecond'] / other['podsPerSecond']:.1f},"
              f" peak RSS 1/{other['peakRssMegabytes'] / ours['peakRssMegabytes']:.1f}")
    if here and other:
        print(f"ours on the embedded server / {name} on kube-apiserver: pods/s x{here['podsPerSecond'] / other['podsPerSecond']:.1f}")
P
}

missing=
for server in $servers; do
  if [ "$server" = kubernetes ]; then
    if control_plane_missing; then
      missing=1
      continue
    fi
    start_kubernetes
  else
    start_embedded
  fi
  scheduler_config "$server"
  [ "$server" != kubernetes ] && [ -z "${QUOTA:-}" ] || install_kinds "$server"
  measure "$server" mangrove koord-scheduler "$mangrove scheduler --kubeconfig $dir/$server.config --leader-elect=false --metrics-bind-address 127.0.0.1:0" "$@"
  if [ -n "${QUOTA:-}" ]; then
    echo "left out: kube-scheduler knows no quotas"
  elif [ "$kube_scheduler" = none ]; then
    echo "left out: kube-scheduler, as asked"
  elif [ -x "$kube_scheduler" ]; then
    measure "$server" kube-scheduler default-scheduler "$kube_scheduler --config $dir/$server.scheduler.yaml --secure-port 0" "$@"
  else
    echo "skipped: no kube-scheduler (KUBE_SCHEDULER='$kube_scheduler')"
    missing=1
  fi
  # Once: a run takes a minute on kube-apiserver.
  if [ -n "$koord_scheduler" ]; then
    koord_config "$server"
    RUNS=1 measure "$server" koord-scheduler koord-scheduler "$koord_scheduler --config ${KOORD_CONFIG:-$dir/$server.koord.yaml} --port 0 --secure-port 0" "$@"
  fi
  stop_servers
done
compare
[ -z "$missing" ] || exit 77
