#!/usr/bin/env bash
# Drives our API server and kube-apiserver + etcd with the same load generator, one after the other, and prints the ratios.
# Both write to the same disk with fsync on, both speak TLS on loopback.
#
#   MANGROVE=build/release/bin/mangrove bench/api_peers.sh [FLAGS of mangrove bench api]
#
# KUBE_APISERVER and ETCD name the peers (default: kube-apiserver and etcd in PATH or ~/.cache/mangrove/bin); without them only
# our own server is measured. RESULTS names a directory that keeps both JSON files. Exit code 77: a peer is missing.
set -euo pipefail
source "$(dirname "$0")/../test/kubernetes/lib/control_plane.sh"
mangrove=${MANGROVE:?path of the binary}
dir=$(mktemp -d "${TMPDIR:-/tmp}/api-peers-XXXXXX")
results=${RESULTS:-$dir}
mkdir -p "$results"
pids=()
trap 'for pid in "${pids[@]}"; do kill -9 "$pid" 2>/dev/null || true; done; wait 2>/dev/null || true; rm -rf "$dir"' EXIT

start_peers() {
  local started
  started=$(date +%s%N)
  start_control_plane "$dir/peers"
  pids+=("$etcd_pid" "$kube_pid")
  echo "kube-apiserver on a fresh etcd: serves after $((($(date +%s%N) - started) / 1000000)) ms"
}

ratios() {
  python3 - "$results/mangrove.json" "$results/kubernetes.json" <<'P'
import json, sys
ours, other = (json.load(open(p)) for p in sys.argv[1:3])
by = lambda r: {m["name"]: m for m in r["measures"]}
a, b = by(ours), by(other)
ratio = lambda x, y: f"{x / y:8.2f}" if y else "       -"
print(f"{'ours / kube-apiserver + etcd':<28}{'per second':>12}{'p99':>9}{'CPU each':>10}")
for name in a:
    if name in b:
        m, k = a[name], b[name]
        print(f"{name:<28}{ratio(m['perSecond']['median'], k['perSecond']['median']):>12}"
              f"{ratio(m['p99Millis']['median'], k['p99Millis']['median']):>9}"
              f"{ratio(m['serverCpuMicros']['median'], k['serverCpuMicros']['median']):>10}")
for m, k in zip(ours["memory"], other["memory"]):
    print(f"RSS, {m['when']:<32}{m['rssBytes'] / 1e6:8.1f} MB of {k['rssBytes'] / 1e6:8.1f} MB, 1/{k['rssBytes'] / max(1, m['rssBytes']):.1f}")
P
}

show() {  # show FILE: the JSON as the table a person reads
  python3 - "$1" <<'P'
import json, sys
r = json.load(open(sys.argv[1]))
print(f"{r['version']}: load {r['loadBefore']} -> {r['loadAfter']}")
f = lambda s, d=0: f"{s['median']:.{d}f} ({s['low']:.{d}f}-{s['high']:.{d}f})"
for m in r["measures"]:
    print(f"  {m['name']:<24}{f(m['perSecond']):>24}/s  p50 {f(m['p50Millis'], 1):>22} ms  p99 {f(m['p99Millis'], 1):>22} ms  "
          f"CPU {f(m['serverCpuMicros']):>20} us  others {m['neighbours']['median']:.0%}" + (f"  FAILED {m['failed']}" if m["failed"] else ""))
for m in r["memory"]:
    print(f"  memory, {m['when']:<30} RSS {m['rssBytes'] / 1e6:7.1f} MB  PSS {m['pssBytes'] / 1e6:7.1f} MB")
for s in r["starts"]:
    print(f"  start, {s['what']:<31} first 200 {f(s['healthMillis'])} ms, first list {f(s['requestMillis'])} ms, CPU {f(s['cpuMillis'])} ms")
P
}

"$mangrove" bench api --dir "$dir" -o json "$@" >"$results/mangrove.json" 2>"$dir/mangrove.log" || { tail -5 "$dir/mangrove.log"; exit 1; }
show "$results/mangrove.json"
control_plane_missing && exit 77
start_peers
"$mangrove" bench api --kubeconfig "$dir/peers/kubeconfig" --server-pid "$kube_pid,$etcd_pid" -o json "$@" >"$results/kubernetes.json"
show "$results/kubernetes.json"
ratios
