#!/usr/bin/env bash
# Drives our API server and kube-apiserver + etcd with the same load generator, one after the other, and prints the ratios.
# Both write to the same disk with fsync on, both speak TLS on loopback.
#
#   MANGROVE=build/release/bin/mangrove bench/api_peers.sh [FLAGS of mangrove bench api]
#
# KUBE_APISERVER and ETCD name the peers (default: kube-apiserver and etcd in PATH or ~/.cache/mangrove/bin); without them only
# our own server is measured. RESULTS names a directory that keeps both JSON files. Exit code 77: a peer is missing.
set -euo pipefail
PATH=$PATH:$HOME/.cache/mangrove/bin
mangrove=${MANGROVE:?path of the binary}
kube=${KUBE_APISERVER:-$(command -v kube-apiserver || true)}
etcd=${ETCD:-$(command -v etcd || true)}
dir=$(mktemp -d "${TMPDIR:-/tmp}/api-peers-XXXXXX")
results=${RESULTS:-$dir}
mkdir -p "$results"
pids=()
trap 'for pid in "${pids[@]}"; do kill -9 "$pid" 2>/dev/null || true; done; wait 2>/dev/null || true; rm -rf "$dir"' EXIT

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

start_peers() {
  local client peer port i
  client=$(free_port) peer=$(free_port) port=$(free_port)
  "$etcd" --data-dir "$dir/etcd" --listen-client-urls "http://127.0.0.1:$client" --advertise-client-urls "http://127.0.0.1:$client" \
    --listen-peer-urls "http://127.0.0.1:$peer" --initial-advertise-peer-urls "http://127.0.0.1:$peer" \
    --initial-cluster "default=http://127.0.0.1:$peer" >"$dir/etcd.log" 2>&1 &
  etcd_pid=$!
  pids+=("$etcd_pid")
  openssl genrsa -out "$dir/sa.key" 2048 2>/dev/null
  openssl rsa -in "$dir/sa.key" -pubout -out "$dir/sa.pub" 2>/dev/null
  echo 'bench-token,admin,1,"system:masters"' >"$dir/tokens.csv"
  started=$(date +%s%N)
  "$kube" --etcd-servers "http://127.0.0.1:$client" --secure-port "$port" --bind-address 127.0.0.1 --cert-dir "$dir/certs" \
    --service-account-issuer https://kubernetes.default.svc --service-account-key-file "$dir/sa.pub" \
    --service-account-signing-key-file "$dir/sa.key" --token-auth-file "$dir/tokens.csv" --authorization-mode RBAC \
    --service-cluster-ip-range 10.96.0.0/16 --disable-admission-plugins ServiceAccount >"$dir/kube.log" 2>&1 &
  kube_pid=$!
  pids+=("$kube_pid")
  cat >"$dir/kube.config" <<Y
apiVersion: v1
kind: Config
current-context: peer
clusters: [{name: peer, cluster: {server: "https://127.0.0.1:$port", insecure-skip-tls-verify: true}}]
users: [{name: admin, user: {token: bench-token}}]
contexts: [{name: peer, context: {cluster: peer, user: admin}}]
Y
  for ((i = 0; i < 600; i++)); do
    [ "$(curl -sk -H 'Authorization: Bearer bench-token' "https://127.0.0.1:$port/readyz" || true)" = ok ] && break
    kill -0 "$kube_pid" || { tail -5 "$dir/kube.log"; exit 1; }
    sleep 0.1
  done
  echo "kube-apiserver: first 200 of /readyz after $((($(date +%s%N) - started) / 1000000)) ms"
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
for program in "$kube" "$etcd"; do
  [ -n "$program" ] && [ -x "$program" ] && continue
  echo "skipped: kube-apiserver and etcd are compared only when both are here (KUBE_APISERVER='$kube', ETCD='$etcd')"
  exit 77
done
start_peers
"$mangrove" bench api --kubeconfig "$dir/kube.config" --server-pid "$kube_pid,$etcd_pid" -o json "$@" >"$results/kubernetes.json"
show "$results/kubernetes.json"
ratios
